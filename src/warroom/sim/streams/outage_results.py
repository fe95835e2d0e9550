"""The figures by which a line of an outage says what became of its request: how they are drawn, and how they are read.

The words of a result are the same in both cases. Of some pairs the larger figure means harm, of others the smaller, and
they come in either order: only who reads what the figures are of can tell.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

Figures = dict[str, int]


class Duration(NamedTuple):
    """How long a request took, and might have taken, in milliseconds."""

    total: float
    limit: float


class Comparison(NamedTuple):
    """Figures that belong together, in one result."""

    slots: tuple[str, ...]
    draw: Callable[[bool, bytes], Figures]
    """From whether the request came to harm, and eight bytes."""
    harmful: Callable[[Mapping[str, int]], bool]
    """Whether it did, by the figures."""


def _done(harmful: bool, draw: bytes) -> Figures:
    parts = 3 + draw[1] % 60
    return {"all": parts, "done": draw[2] % parts if harmful else parts}


def _quorum(harmful: bool, draw: bytes) -> Figures:
    need = 2 + draw[1] % 2
    return {"need": need, "got": draw[2] % need if harmful else need}


def _versions(harmful: bool, draw: bytes) -> Figures:
    newest = 100 + 3 * draw[1]
    return {"newest": newest, "held": newest - 1 - draw[2] % 40 if harmful else newest}


def _codes(harmful: bool, draw: bytes) -> Figures:
    return {"status": 500, "inner": 200} if harmful else {"status": 200, "inner": 503}


def _left(harmful: bool, draw: bytes) -> Figures:
    return {"left": 0 if harmful else 1 + draw[2] % 4}


def _rest(harmful: bool, draw: bytes) -> Figures:
    return {"rest": 1 + draw[2] % 30 if harmful else 0}


COMPARISONS: tuple[Comparison, ...] = (
    Comparison(("done", "all"), _done, lambda of: of["done"] < of["all"]),
    Comparison(("got", "need"), _quorum, lambda of: of["got"] < of["need"]),
    Comparison(("held", "newest"), _versions, lambda of: of["held"] < of["newest"]),
    Comparison(("status", "inner"), _codes, lambda of: of["status"] >= 400),
    Comparison(("left",), _left, lambda of: not of["left"]),
    Comparison(("rest",), _rest, lambda of: bool(of["rest"])),
)
"""Of results at a given moment; tries are limited by a setting, and durations come from the world."""
COMPARED = frozenset({"took", "limit", "tries", "most"}.union(*[comparison.slots for comparison in COMPARISONS]))
"""All slots of results."""


def result_figures(harmful: bool, draw: bytes, duration: Duration, *, most: int) -> Figures:
    """The figures of any result: `duration` is within its limit exactly if the request came to no harm by it. `most`
    are the tries that are allowed, two or more."""
    limit = max(2, round(duration.limit))
    within, beyond = min(limit - 1, round(duration.total)), max(limit + 1, round(duration.total))
    found = {"limit": limit, "took": beyond if harmful else within,
             "most": most, "tries": most if harmful else 1 + draw[2] % (most - 1)}  # fmt: skip
    for comparison in COMPARISONS:
        found |= comparison.draw(harmful, draw)
    return found


def is_harmful(figures: Mapping[str, int]) -> bool:
    """Whether the request of a line with these figures came to harm."""
    if "took" in figures:
        return figures["took"] > figures["limit"]
    if "tries" in figures:
        return figures["tries"] >= figures["most"]
    return next(one.harmful(figures) for one in COMPARISONS if one.slots[0] in figures)
