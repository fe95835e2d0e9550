"""Run the Inspect task on a model, read the log, and compare its scores with an evaluation's.

    pip install warroom inspect_ai openai
    python examples/integrations/with_inspect.py

A model of your own is evaluated by the command line of Inspect:

    inspect eval warroom/incidents -T env=fleet -T seats=sre --model openai/gpt-5
"""

import tempfile
from pathlib import Path

from inspect_ai import eval as inspect_eval
from inspect_ai.model import get_model
from scripted_model import ScriptedModel, check

import warroom
from warroom.integrations.inspect import incidents

TASKS = {"split": "dev", "seeds": 1, "tiers": "easy"}
LIMIT = 3
"""Incidents of each evaluation."""


def play(env: str, seats: str) -> None:
    """Evaluate the script at some seats of an environment."""
    specs = [str(spec) for spec in warroom.tasks(env, split="dev", seeds=1, tiers=["easy"])][:LIMIT]
    script = ScriptedModel(specs, "expert", seats.split(",") if seats else ())
    with script.serving() as url, tempfile.TemporaryDirectory() as folder:
        model = get_model("openai/scripted", base_url=url, api_key="none", responses_api=False)
        (log,) = inspect_eval(
            incidents(env, **TASKS, seats=seats), model=model, log_dir=folder, limit=LIMIT, display="none"
        )
        assert log.status == "success" and Path(log.location).exists() and log.samples, log.error
        parts = [sample.scores["team_score"].as_dict() for sample in log.samples if sample.scores]
        ids = [str(sample.id) for sample in log.samples]
    print(f"{env}, {seats or 'all seats'}: {', '.join(parts[0])}")
    check(script, {id_: part["score"] for id_, part in zip(ids, parts, strict=True)})


def main() -> None:
    """One seat, a whole team, and the other environments."""
    play("fleet", "sre")
    play("fleet", "")
    play("logs", "")
    play("tickets", "")


if __name__ == "__main__":
    main()
