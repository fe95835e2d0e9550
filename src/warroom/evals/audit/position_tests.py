"""Whether an item that only the truth identifies has a special position in a list."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import NamedTuple


class ListPosition(NamedTuple):
    """Where an item stands in one list."""

    place: int
    """From 0."""
    length: int


@dataclass(frozen=True)
class PositionBias:
    """The positions of an item in many lists: uniform where nothing leaks."""

    what: str
    n: int
    """Lists of two or more."""
    first: float
    """Share in which it is the first of the list, less what chance gives."""
    last: float
    """Share in which it is the last, less what chance gives."""
    p: float
    """Of the larger of both under chance, and of the mean place (normal approximations), corrected for three tests."""


def position_bias(what: str, places: Sequence[ListPosition]) -> PositionBias:
    """Against a uniform place: how often it is first, how often last, and the mean place."""
    open_ = [(place, size) for place, size in places if size > 1]
    if not open_:
        return PositionBias(what, 0, 0.0, 0.0, 1.0)
    n = len(open_)
    chance = sum(1 / size for _, size in open_)
    spread = sqrt(sum(1 / size * (1 - 1 / size) for _, size in open_))
    first = sum(place == 0 for place, _ in open_) - chance
    last = sum(place == size - 1 for place, size in open_) - chance
    middle = sum(place - (size - 1) / 2 for place, size in open_) / sqrt(sum((s * s - 1) / 12 for _, s in open_))
    z = max(abs(first) / spread, abs(last) / spread, abs(middle))
    return PositionBias(what, n, first / n, last / n, min(1.0, 3 * erfc(z / sqrt(2))))
