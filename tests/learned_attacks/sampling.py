"""What the attacks share: incidents to learn from, and types of features."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from warroom.core.env import Env
from warroom.core.splits import seed_of
from warroom.envs import make

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]
Environment = TypeVar("Environment", bound=Env)
KINDS = ("gateway", "service", "db", "cache", "queue")
"""Kinds of services, as one-hot features."""


def fresh_incidents(
    kind: type[Environment], scenarios: Iterable[str], tier: str, split: str, seeds: Iterable[int], **options: object
) -> Iterator[tuple[str, Environment]]:
    """(scenario, environment) for every seed index of the split, scenario by scenario."""
    chosen = list(seeds)
    for scenario in scenarios:
        for k in chosen:
            env = make(scenario, tier, seed_of(split, k), **options)
            assert isinstance(env, kind)
            yield scenario, env


def one_hot(value: str, values: Iterable[str]) -> list[float]:
    """1.0 at the place of the value, 0.0 elsewhere."""
    return [float(value == other) for other in values]
