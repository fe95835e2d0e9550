"""Readable transcripts: whatever changes what a seat sees shows up as a diff that a person reads."""

from pathlib import Path

import pytest

from warroom.envs import episode_spec
from warroom.episode import Episode
from warroom.policies import policy_set
from warroom.rollout import play

FOLDER = Path(__file__).parent / "golden"
CELLS = [
    "fleet/autoscaler_cost_cut", "fleet/feature_flag_flood", "fleet/slow_release", "fleet/memory_leak",
    "fleet/no_incident",
    "logs/single_crash", "logs/silent_degradation", "logs/misleading_errors", "logs/false_alarm",
    "tickets/contradictory", "tickets/past_case", "tickets/poisoned",
]  # fmt: skip
"""The scenarios that differ most on the page; the others share the rest, and a person has to read what changes."""


def readable(episode: Episode) -> str:
    """The transcript as a person reads it."""
    out = [
        f"{episode.scenario}, tier {episode.tier}, seed {episode.seed}, played by {episode.policy}",
        f"truth: {episode.truth}",
    ]
    for step in episode.steps:
        arguments = ", ".join(f"{name}={value!r}" for name, value in step.arguments.items())
        out += [
            "",
            "-" * 100,
            step.observation,
            f">>> {step.seat}: {step.tool}({arguments})  [{step.points_gained:+g}]",
        ]
    return "\n".join([*out, "", f"points: {episode.points}", f"outcome: {episode.outcome}", ""])


@pytest.mark.parametrize("scenario", CELLS)
def test_the_transcript_is_as_recorded(scenario: str, request: pytest.FixtureRequest) -> None:
    path = FOLDER / f"{scenario}.txt"
    text = readable(play(episode_spec(scenario, "medium", 11), policy_set(scenario.partition("/")[0], "expert")))
    if request.config.getoption("--rewrite-golden"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert path.exists(), "no golden transcript yet: make golden"
    assert text == path.read_text(), "the transcript changed; if that is meant: make golden, and read the diff"
