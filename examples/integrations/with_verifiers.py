"""Evaluate the verifiers environment with its own `vf-eval`, and compare the rewards with an evaluation's scores.

    pip install warroom verifiers uv
    python examples/integrations/with_verifiers.py

Each turn of an agent is a process that `uv` starts. A model of your own:

    vf-eval warroom-verifiers -m MODEL --env.taskset.split test
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scripted_model import ScriptedModel, check

import warroom


def play(env: str, seats: Sequence[str], incidents: int) -> None:
    """Evaluate the script at some seats of an environment; every seat is an agent with a trace of its own."""
    specs = [str(spec) for spec in warroom.tasks(env, split="dev", tiers=["easy"], seeds=1)][:incidents]
    script = ScriptedModel(specs, "expert", seats)
    vf_eval = [Path(sys.executable).with_name("vf-eval"), "warroom-verifiers", "-m", "scripted", "-n", incidents]
    taskset = {"env": env, "split": "dev", "tiers": '["easy"]', "seeds": 1, "seats": json.dumps(seats)}
    options = [part for name, value in taskset.items() for part in (f"--env.taskset.{name}", value)]
    with script.serving() as url, tempfile.TemporaryDirectory() as folder:
        options += [
            "--client.base-url",
            url,
            "--client.api-key-var",
            "SCRIPTED_KEY",
            "-o",
            folder,
            "--no-push",
            "--no-rich",
        ]
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        subprocess.run(
            [str(part) for part in (*vf_eval, *options)],
            env=os.environ | {"SCRIPTED_KEY": "none", "PATH": path}, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        (traces,) = Path(folder).rglob("traces.jsonl")
        found = [trace for line in traces.read_text().splitlines() for trace in json.loads(line)["traces"]]
    print(f"{env}: {len(found)} traces, agents {sorted({trace['agent']['name'] for trace in found})}")
    check(script, {trace["task"]["data"]["spec"]: trace["rewards"]["reward"]["score"] for trace in found})


def main() -> None:
    """A team of four agents, and one of its seats."""
    play("fleet", [], 1)
    play("fleet", ["oversight"], 2)


if __name__ == "__main__":
    main()
