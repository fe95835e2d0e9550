"""Train a language model with TRL's GRPO on incidents of a Warroom server: here, to play the oversight seat.

In one terminal, or on another machine:

    warroom serve --env fleet --port 8000

In another (`pip install 'warroom[train,serve]'`; a model of this size wants a GPU):

    python examples/train_with_trl.py --model Qwen/Qwen2.5-1.5B-Instruct --steps 200

Only this file knows TRL, and only the server knows the incidents. `warroom train` needs no server and does more: its
trainer knows when an incident is over, and it has a curriculum, a preflight, and rules that stop a run that goes wrong.
"""

import argparse
from typing import Any

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from warroom.serve.client import Client, SeatObservation

SEAT = "oversight"
TEAMMATES = "expert"
"""Who plays the other seats, on the server."""


class Oversight:
    """One rollout. TRL makes an instance for each that runs at once, and begins it anew with every row of the data.

    TRL offers every public method but `reset` and `get_reward` to the model as a tool, described by its docstring. So
    the client is private, and whatever is no tool begins with an underscore.
    """

    _url = "http://127.0.0.1:8000"

    def __init__(self) -> None:
        self._client = Client(self._url)
        self._observation: SeatObservation

    def reset(self, index: int, **row: Any) -> str:
        """Begin the incident of a row; the text that is returned follows the row's prompt."""
        self._observation = self._client.reset(split="train", index=index, seats=SEAT, teammates=TEAMMATES)
        return self._observation.text

    def get_reward(self) -> float:
        """The score of the incident, -1 to 1: 0 for doing nothing, 1 for a policy that knows the truth."""
        while not self._observation.done:  # the model has stopped calling tools: its seat waits to the end
            self._call("wait")
        assert self._observation.score is not None
        return self._observation.score

    def metrics(self, service: str) -> str:
        """Read one service now: its load, whose requests come to harm, and what its parts carry.

        Args:
            service: name of the service
        """
        return self._call("metrics", service=service)

    def series(self, service: str, since: str = "") -> str:
        """Read one service over time: its last minutes, and the series that statements are about.

        Args:
            service: name of the service
            since: first time of the series, such as 14:20
        """
        return self._call("series", service=service, since=since)

    def logs(self, service: str, words: str = "", since: str = "") -> str:
        """Search the log of one service.

        Args:
            service: name of the service
            words: up to four words that a line must hold
            since: from when, such as 14:20
        """
        return self._call("logs", service=service, words=words, since=since)

    def traces(self, service: str) -> str:
        """Read how the calls out of and into one service fared in the last three minutes.

        Args:
            service: name of the service
        """
        return self._call("traces", service=service)

    def alerts(self, state: str = "") -> str:
        """Read the alerts of the day.

        Args:
            state: firing, resolved or silenced; all of them if left out
        """
        return self._call("alerts", state=state)

    def record(self, subject: str, since: str = "") -> str:
        """Read the ledger about an agent, a colleague or a service.

        Args:
            subject: whom or what the rows are about
            since: from when, such as 14:20
        """
        return self._call("record", subject=subject, since=since)

    def charter(self, agent: str) -> str:
        """Read what an agent may do.

        Args:
            agent: name of the agent
        """
        return self._call("charter", agent=agent)

    def flag(self, agent: str, ground: str) -> str:
        """Suspend an automation agent that you hold for a rogue. Ends the turn.

        Args:
            agent: name of the agent
            ground: the rule that its change broke
        """
        return self._call("flag", agent=agent, ground=ground)

    def wait(self) -> str:
        """Do nothing this turn. Ends the turn."""
        return self._call("wait")

    def _call(self, tool: str, **arguments: Any) -> str:
        self._observation = self._client.call(tool, **arguments)
        return self._observation.text


def rows(number: int) -> Dataset:
    """Incidents by their number in the server's list of training tasks. TRL plays each as often as a group is large."""
    prompt = [{"role": "user", "content": "An incident has begun. Use the tools, one at a time.\n"}]
    return Dataset.from_list([{"prompt": prompt, "index": index} for index in range(number)])


def train(model: Any, url: str, out: str, steps: int, tokenizer: Any = None, **config: Any) -> GRPOTrainer:
    """Train and save. `config` goes to TRL's `GRPOConfig`."""
    usual: dict[str, Any] = {
        "num_generations": 8,
        "per_device_train_batch_size": 8,
        "max_completion_length": 4096,  # of a whole rollout, what tools answer included
        "max_tool_calling_iterations": 40,  # TRL does not know when an incident is over
        "learning_rate": 2e-6,
        "activation_checkpointing": True,  # rollouts are long: time for memory
        "logging_steps": 1,
        "report_to": "none",
    }
    Oversight._url = url
    trainer = GRPOTrainer(
        model=model,
        args=GRPOConfig(output_dir=out, max_steps=steps, **usual | config),
        train_dataset=rows(200),
        processing_class=tokenizer,
        environment_factory=Oversight,
    )
    trainer.train()
    trainer.save_model(f"{out}/model")
    return trainer


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Train a model with TRL on incidents of a Warroom server.")
    parser.add_argument("--model", default="Qwen/Qwen2.5-1.5B-Instruct", help="a folder, or a name on the Hub")
    parser.add_argument("--url", default="http://127.0.0.1:8000", help="where `warroom serve --env fleet` listens")
    parser.add_argument("--steps", type=int, default=200, help="updates of the model")
    parser.add_argument("--out", default="runs/trl", help="where checkpoints and the model are written")
    given = parser.parse_args()
    train(given.model, given.url, given.out, given.steps)


if __name__ == "__main__":
    main()
