"""Play the oracle on a task of a running server and print its score: python validation/oracle.py URL SPLIT INDEX."""

import sys

from warroom.envs import make
from warroom.serve.client import Client
from warroom.serve.tasks import task_specs

ENV = "$env"


def main(url: str, split: str, index: int) -> None:
    """The oracle's calls are worked out here, where the truth is known, and sent like any client's."""
    env = make(task_specs(ENV, split)[index])
    with Client(url) as client:
        observation = client.reset(split=split, index=index)
        while not observation.done:
            call = env.oracle()
            env.step(call)
            observation = client.call(call.name, **call.arguments)
    print(observation.score)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
