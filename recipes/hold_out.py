"""What it is worth to know the source and every public seed, on a server with a salt and on one without.

python recipes/hold_out.py [--tasks 60] [fleet logs tickets]

The knowing client works out the oracle's calls for each task of the test split, offline, and sends them. The blind one
sends those of another task, which are as good in form and say nothing of this one.
"""

import argparse
import secrets
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

import uvicorn
from space_checks import oracle_actions

from warroom.envs import environments
from warroom.serve.app import ServeOptions, application
from warroom.serve.client import Client
from warroom.serve.tasks import task_specs


class Scores(NamedTuple):
    """Scores by task: -1 to 1, 0 for doing nothing, 1 for whoever is told the truth."""

    knowing: list[float]
    blind: list[float]


def attack(url: str, env: str, tasks: int) -> Scores:
    """Play so many tasks of the test split, as one who knows the public incidents and as one who guesses."""
    specs = task_specs(env, "test")[: tasks + 1]
    actions = [oracle_actions(spec) for spec in specs]
    with Client(url) as client:
        knowing = [_score(client, index, actions[index]) for index in range(tasks)]
        blind = [_score(client, index, actions[index + 1]) for index in range(tasks)]
    return Scores(knowing, blind)


def _score(client: Client, index: int, actions: list[dict[str, object]]) -> float:
    """The score of calls that are made whatever is answered; then the last of them again, to the end."""
    observation = client.reset(index=index, **{} if client.splits()[0] == "test" else {"split": "test"})
    calls = iter(actions)
    while not observation.done:
        observation = client.send(next(calls, actions[-1]))
    assert observation.score is not None
    return observation.score


@contextmanager
def _served(options: ServeOptions) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(application(options), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def main() -> None:
    """Print mean scores, with the half-width of their 95 % intervals, by environment and server."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("envs", nargs="*", default=list(environments()))
    parser.add_argument("--tasks", type=int, default=60)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        salt = Path(folder) / "salt"
        salt.write_text(secrets.token_hex(32))
        print("| environment | server | n | knowing | blind | at 0.99 or above |\n|---|---|--:|--:|--:|--:|")
        for env in asked.envs:
            salted = ServeOptions(env, tasks_only="test", salt_file=str(salt))
            for name, options in (("open", ServeOptions(env)), ("salted", salted)):
                with _served(options) as url:
                    scores = attack(url, env, asked.tasks)
                top = sum(score >= 0.99 for score in scores.knowing)
                shown = " | ".join(f"{mean(s):.3f} ± {1.96 * stdev(s) / len(s) ** 0.5:.3f}" for s in scores)
                print(f"| {env} | {name} | {asked.tasks} | {shown} | {top} of {asked.tasks} |", flush=True)


if __name__ == "__main__":
    main()
