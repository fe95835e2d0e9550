"""Edges between named services: cycles, order and reach, the same for any order of the input."""

from collections.abc import Callable, Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

Edge = tuple[str, str]
"""(caller, callee), by name."""


def reachable(start: str, calls: Iterable[Edge]) -> set[str]:
    """Everything that requests from `start` can reach, itself included."""
    callees: dict[str, list[str]] = {}
    for caller, callee in calls:
        callees.setdefault(caller, []).append(callee)
    reached, waiting = {start}, [start]
    while waiting:
        fresh = set(callees.get(waiting.pop(), ())) - reached
        reached |= fresh
        waiting += sorted(fresh)
    return reached


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
    calls, dropped = list(firm), list[Edge]()
    for edge in sorted(loose, key=lambda each: (doubt(each), each)):
        (dropped if edge[0] in reachable(edge[1], calls) else calls).append(edge)
    return AcyclicCalls(sorted(calls), sorted(dropped))
