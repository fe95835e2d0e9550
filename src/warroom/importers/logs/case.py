"""A log made ready for a verdict: the catalogue, the readings of every service, and the lines that speak for it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warroom.envs.logs.views import Catalogue, Overview, ServiceLogs
from warroom.importers.logs.facts import Failure
from warroom.importers.logs.file import Log
from warroom.importers.logs.kinds import Kind
from warroom.importers.logs.names import some
from warroom.importers.logs.readings import (
    Windows,
    overview,
    readings,
    served_of,
    tells_failures_only,
    tells_of_a_call,
    windows,
)
from warroom.importers.logs.times import say
from warroom.importers.logs.topology import Drawn, Topology, check_shared, draw, plumbing_of
from warroom.importers.logs.windows import Split, split
from warroom.importers.topology.graph import Edge

GREW = 1.5
"""Factor on the count or the durations of a kind of lines from which one of them is shown."""
UNREAD = 0.25
"""Share of unread lines from which the rest may tell another story than the whole."""
SHOWN_FIRST = 100.0
"""Weight of a build or job that began; delays weigh less than all that is of trouble by as much."""


class Shown(NamedTuple):
    """A line of the file that led to a verdict."""

    number: int
    """From 1."""
    line: str
    like_it: int
    """Lines of its kind in the window now."""


@dataclass(frozen=True)
class Case:
    """Everything that a policy needs to judge a log."""

    log: Log
    drawn: Drawn
    windows: Windows
    readings: Mapping[str, ServiceLogs]
    spoken: Mapping[int, str]
    """Number of a kind of lines to the service that it says was called."""
    both: frozenset[int]
    """Numbers of those that tell of a request of their writer as well."""
    warnings: tuple[str, ...]

    @property
    def catalogue(self) -> Catalogue:
        """All services."""
        return self.drawn.catalogue

    @property
    def overview(self) -> Overview:
        """How much each writes."""
        return overview(self.readings)

    @property
    def split(self) -> Split:
        """What is compared."""
        return self.windows.split

    @property
    def much_unread(self) -> str:
        """How many lines were not read, if so many that the rest may mislead; else empty."""
        share = self.log.unread_share
        return f"{100 * share:.0f}% of the lines were not read" if share >= UNREAD else ""

    @property
    def gateway(self) -> str:
        """Where users arrive."""
        return self.catalogue.names[0]

    def times(self, span: tuple[float, float] | None) -> list[str] | None:
        """A window as the log's own times: its first moment and its end."""
        return [say(self.log.tally.clock, seconds) for seconds in span] if span is not None else None

    def without_severity(self) -> str:
        """Why the lines cannot tell how users fare; empty where they can."""
        logs = self.readings[self.gateway]
        if not logs.handled or not logs.handled.now:
            return f"no gateway figures: the lines of {self.gateway} tell of no requests"
        served = served_of(self._kinds(self.gateway), self.spoken, self.both, gateway=True)
        if tells_failures_only(served):
            return f"no gateway figures: {self.gateway} tells only of requests that failed"
        return ""

    def _kinds(self, service: str) -> list[Kind]:
        return [kind for kind in self.log.tally.kinds.all.values() if kind.service == service]

    def lines_about(self, roots: Sequence[str], limit: int = 8) -> list[Shown]:
        """Lines of now that speak for some roots, by themselves or by others; those that grew most, in their order."""
        ranked = []
        for kind in self.log.tally.kinds.all.values():
            sample, weight = self.windows.now.samples.get(kind.number), self._weight(kind, roots)
            if sample is not None and weight > 0:
                ranked.append((weight, Shown(sample.number, sample.line, self.windows.now.counts[kind.number])))
        ranked.sort(key=lambda row: (-row[0], row[1]))
        return sorted(shown for _, shown in ranked[:limit])

    def _weight(self, kind: Kind, roots: Sequence[str]) -> float:
        """How much a line is worth showing: the growth of its kind, or its delay; nothing if it is not about a root."""
        if kind.service not in roots and self.spoken.get(kind.number) not in roots:
            return 0.0
        count = self.windows.count([kind])
        growth = (count.now + 0.5) / (count.before + 0.5)
        if kind.facts.started:
            return SHOWN_FIRST
        if kind.alarming:
            named = 3 if kind.facts.failure is not Failure.NONE else 1
            return named * growth if growth >= GREW else 0.0
        median = self.windows.median([kind])
        return median.now / median.before / SHOWN_FIRST if median and median.now >= GREW * median.before else 0.0


def make_case(log: Log, topology: Topology | None, owners: Mapping[str, str], split_at: str | None = None) -> Case:
    """Judge what each line speaks of, draw the catalogue, choose the windows and count both."""
    if topology is not None:
        check_shared(topology, {*log.names.writers, *log.tally.silent})
    aside = _plumbing(log, topology)
    for kind in [kind for kind in log.tally.kinds.all.values() if kind.service in aside]:
        del log.tally.kinds.all[kind.number]
    told = {kind.number: log.names.spoken_of(kind.service, kind.text) for kind in log.tally.kinds.all.values()}
    edges = _edges(log, told)
    services = {*log.names.writers, *log.tally.silent, *(name for edge in edges for name in edge)} - set(aside)
    if not services:
        raise ValueError(f"nothing to judge: no request passes through {some(aside)}, and nobody else writes here")
    drawn = draw(topology, edges, services, owners)
    calls = {(entry.name, callee) for entry in drawn.catalogue.entries for callee in entry.calls}
    kinds = log.tally.kinds.all
    spoken = {number: callee if (kinds[number].service, callee) in calls else "" for number, callee in told.items()}
    counted = windows(log.tally, split(log.tally, split_at))
    both = _both(log, spoken)
    read = readings(log.tally, spoken, counted, drawn.catalogue.names, drawn.catalogue.names[0], both)
    notes = (*_warnings(log, aside), *drawn.notes, *_failures_only(log, spoken))
    return Case(log, drawn, counted, read, spoken, both, notes)


def _both(log: Log, spoken: Mapping[int, str]) -> frozenset[int]:
    """Kinds that tell of a call and of a request of the writer's own."""
    kinds = log.tally.kinds.all
    called = [kinds[number] for number, callee in spoken.items() if callee]
    return frozenset(kind.number for kind in called if log.names.answers(kind.service, kind.text))


def _plumbing(log: Log, topology: Topology | None) -> dict[str, str]:
    """Services whose lines are not judged, with the reason."""
    if topology is not None:
        return {name: why for name, why in topology.plumbing.items() if name in log.names.writers}
    return {name: why for name in sorted(log.names.writers) if (why := plumbing_of(name))}


def _edges(log: Log, told: Mapping[int, str]) -> Counter[Edge]:
    """(caller, callee) to the lines that speak of it."""
    edges: Counter[Edge] = Counter()
    for number, callee in told.items():
        kind = log.tally.kinds.all[number]
        if callee and kind.lines:
            edges[kind.service, callee] += kind.lines
    return edges


def _warnings(log: Log, aside: Mapping[str, str]) -> Iterable[str]:
    tally = log.tally
    if log.unread:
        shown = "; ".join(f"line {number}: {line!r}" for number, line in log.examples)
        yield f"{log.unread} of {log.lines} lines fit no format and were not read: {shown}"
    if len(log.formats) > 1:
        yield "mixed formats: " + ", ".join(f"{name} ({count} lines)" for name, count in log.formats.most_common())
    if tally.odd_times:
        yield f"{tally.odd_times:,} times are of another kind than the rest ({tally.clock.value}): that before counts"
    if tally.zones_mixed:
        yield "only some times have a zone: the others are taken as UTC"
    if tally.astray:
        yield f"left out, since their times are far from all others: {tally.astray:,} lines"
    if tally.kinds.merged:
        yield f"very many kinds of lines: {tally.kinds.merged:,} rare ones were counted without their words"
    if aside:
        listed = ", ".join(f"{name} ({why})" for name, why in aside.items())
        yield f"not judged, since no request passes there: {listed}"
    if len(log.names.writers - set(aside)) < 2:
        yield f"only {some(log.names.writers - set(aside))} writes here: a log of the whole system tells more"


def _failures_only(log: Log, spoken: Mapping[int, str]) -> list[str]:
    by_edge: dict[Edge, list[Kind]] = {}
    for number, callee in spoken.items():
        kind = log.tally.kinds.all[number]
        if callee and kind.lines and tells_of_a_call(kind):
            by_edge.setdefault((kind.service, callee), []).append(kind)
    edges = [f"{a} -> {b}" for (a, b), kinds in sorted(by_edge.items()) if tells_failures_only(kinds)]
    if not edges:
        return []
    return [f"only failed calls are logged, so the caller's requests or lines stand for its calls: {some(edges)}"]
