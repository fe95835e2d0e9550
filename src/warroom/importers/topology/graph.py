"""Edges between named services: cycles, order and reach, the same for any order of the input."""

from collections.abc import Callable, Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

Edge = tuple[str, str]
"""(caller, callee), by name."""


def _callees(calls: Iterable[Edge]) -> dict[str, list[str]]:
    callees: dict[str, list[str]] = {}
    for caller, callee in calls:
        callees.setdefault(caller, []).append(callee)
    return callees


def reachable(start: str, calls: Iterable[Edge]) -> set[str]:
    """Everything that requests from `start` can reach, itself included."""
    callees = _callees(calls)
    reached, waiting = {start}, [start]
    while waiting:
        fresh = set(callees.get(waiting.pop(), ())) - reached
        reached |= fresh
        waiting += sorted(fresh)
    return reached


def reach_sizes(names: Iterable[str], calls: Sequence[Edge]) -> dict[str, int]:
    """How many services each one reaches, itself not counted; the calls have no cycle."""
    callees, reached = _callees(calls), dict[str, int]()
    order = topological_order(names, calls)
    # Sets as bits of a number: uniting two costs next to nothing, in a graph of any density.
    for place, name in enumerate(reversed(order)):
        reached[name] = 1 << place
        for callee in callees.get(name, ()):
            reached[name] |= reached[callee]
    return {name: reached[name].bit_count() - 1 for name in order}


def topological_order(names: Iterable[str], calls: Iterable[Edge]) -> list[str]:
    """Callers before callees, in layers, each layer by name. A `ValueError` names a cycle: `a -> b -> a`."""
    callers: dict[str, list[str]] = {name: [] for name in sorted(names)}
    for caller, callee in sorted(calls):
        callers[callee].append(caller)
    sorter, order = TopologicalSorter(callers), list[str]()
    try:
        sorter.prepare()
    except CycleError as error:
        raise ValueError(" -> ".join(_from_smallest(error.args[1]))) from error
    while sorter.is_active():
        layer = sorted(sorter.get_ready())
        order += layer
        sorter.done(*layer)
    return order


def _from_smallest(cycle: Sequence[str]) -> list[str]:
    """A closed cycle (its first name is its last too), begun at its alphabetically first name."""
    ring = list(cycle[:-1])
    first = ring.index(min(ring))
    return [*ring[first:], *ring[:first], ring[first]]


class AcyclicCalls(NamedTuple):
    """Edges without a cycle, and those that would close one; both sorted."""

    calls: list[Edge]
    dropped: list[Edge]


def drop_cycles(
    firm: Iterable[Edge], loose: Iterable[Edge], doubt: Callable[[Edge], tuple[float, ...]]
) -> AcyclicCalls:
    """The firm edges with the loose ones that close no cycle; the least in doubt are added first."""
    calls, dropped, reach = list[Edge](), list[Edge](), _Reach()
    for edge in firm:
        reach.add(edge)
        calls.append(edge)
    for edge in sorted(loose, key=lambda each: (doubt(each), each)):
        if reach.has(edge[1], edge[0]):
            dropped.append(edge)
        else:
            reach.add(edge)
            calls.append(edge)
    return AcyclicCalls(sorted(calls), sorted(dropped))


class _Reach:
    """Which service reaches which, kept up to date as edges are added; sets as bits of a number."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._down: list[int] = []
        """By place: the places that it reaches, its own included."""

    def _place(self, name: str) -> int:
        place = self._places.setdefault(name, len(self._down))
        if place == len(self._down):
            self._down.append(1 << place)
        return place

    def has(self, start: str, end: str) -> bool:
        """Whether requests from `start` reach `end`."""
        return bool(self._down[self._place(start)] >> self._place(end) & 1)

    def add(self, edge: Edge) -> None:
        """Add an edge; services that reach its caller reach what its callee does."""
        caller, callee = map(self._place, edge)
        more = self._down[callee]
        if more & ~self._down[caller]:
            self._down = [down | more if down >> caller & 1 else down for down in self._down]
