"""The incidents of a split as a numbered list of tasks, in an order that tells nothing of what they are.

The list is finite and always the same: every scenario of a suite in every tier, under the first seeds of the split.
"""

from functools import cache
from typing import Any, NamedTuple

from warroom.core.rng import shuffle, stream
from warroom.core.scenario import TIERS
from warroom.core.splits import Split, for_training, parse_split, seed_of
from warroom.envs import suite

SEEDS = {Split.TRAIN: 200, Split.DEV: 20, Split.TEST: 20}
"""Incidents of each scenario and tier in the list of a split."""
KINDS = {Split.TRAIN: "train", Split.DEV: "validation", Split.TEST: "test"}
"""What OpenEnv calls our splits."""


class Incident(NamedTuple):
    """Which incident: what only the server knows of a task."""

    scenario: str
    tier: str
    seed: int


def splits() -> list[dict[str, str]]:
    """Descriptors of the splits."""
    return [{"name": split.value, "type": kind} for split, kind in KINDS.items()]


@cache
def playable(env: str, split: str, named: str | None = None) -> tuple[str, ...]:
    """The scenarios of a suite (of the default one without a name) that a split may draw from."""
    ids = suite(env, named)
    return tuple(for_training(ids) if parse_split(split) is Split.TRAIN else ids)


@cache
def incidents(env: str, split: str, named: str | None = None) -> tuple[Incident, ...]:
    """All tasks of a split in order. An unknown split or suite is an `Unknown`."""
    scenarios, axis = playable(env, split, named), parse_split(split)
    found = [
        Incident(scenario, tier, seed_of(axis, number))
        for scenario in scenarios
        for tier in TIERS
        for number in range(SEEDS[axis])
    ]
    shuffle(stream(0, "tasks", env, axis.value, *([named] if named else [])), found)
    return tuple(found)


def task(env: str, split: str, index: int) -> dict[str, Any]:
    """What a client may know of a task. Its group is the game: anything finer would tell of the cause."""
    found = incidents(env, split)
    if not 0 <= index < len(found):
        raise IndexError(f"a task of {split} has an index from 0 to {len(found) - 1}, got {index}")
    return {
        "id": f"{env}-{split}-{index:05d}",
        "index": index,
        "split": split,
        "difficulty": found[index].tier,
        "group": env,
    }
