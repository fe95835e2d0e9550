"""A log made ready for a verdict: the catalogue, the readings of every service, and the lines that speak for it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warroom.envs.logs.views import Catalogue, Overview, ServiceLogs
from warroom.importers.topology.graph import Edge
from warroom.triage.facts import FailureType
from warroom.triage.log_file import ParsedLog
from warroom.triage.log_templates import LogTemplate
from warroom.triage.service_logs import (
    WindowCounts,
    is_call_line,
    overview,
    own_request_templates,
    reports_only_failures,
    service_logs,
    windows,
)
from warroom.triage.service_names import abbreviate
from warroom.triage.timestamps import format_time
from warroom.triage.topology import (
    KnownTopology,
    ServiceGraph,
    build_service_graph,
    check_shared,
    infrastructure_reason,
)
from warroom.triage.windows import WindowSplit, split

GROWTH_FACTOR = 1.5
"""Factor on the count or the durations of a kind of lines from which one of them is shown."""
UNPARSED_WARNING_SHARE = 0.25
"""Share of unread lines from which the rest may tell another story than the whole."""
START_EVENT_WEIGHT = 100.0
"""Weight of a build or job that began; delays weigh less than all that is of trouble by as much."""


class EvidenceLine(NamedTuple):
    """A line of the file that led to a verdict."""

    number: int
    """From 1."""
    line: str
    similar: int
    """Lines of its kind in the window now."""


@dataclass(frozen=True)
class TriageCase:
    """Everything that a policy needs to judge a log."""

    log: ParsedLog
    service_graph: ServiceGraph
    windows: WindowCounts
    service_logs: Mapping[str, ServiceLogs]
    callee_by_template: Mapping[int, str]
    """Number of a kind of lines to the service that it says was called."""
    request_and_call: frozenset[int]
    """Numbers of those that tell of a request of their writer as well."""
    warnings: tuple[str, ...]

    @property
    def catalogue(self) -> Catalogue:
        """All services."""
        return self.service_graph.catalogue

    @property
    def overview(self) -> Overview:
        """How much each writes."""
        return overview(self.service_logs)

    @property
    def split(self) -> WindowSplit:
        """What is compared."""
        return self.windows.split

    @property
    def unparsed_warning(self) -> str:
        """How many lines were not read, if so many that the rest may mislead; else empty."""
        share = self.log.unparsed_share
        return f"{100 * share:.0f}% of the lines were not read" if share >= UNPARSED_WARNING_SHARE else ""

    @property
    def gateway(self) -> str:
        """Where users arrive."""
        return self.catalogue.names[0]

    def times(self, span: tuple[float, float] | None) -> list[str] | None:
        """A window as the log's own times: its first moment and its end."""
        return [format_time(self.log.log_stats.clock, seconds) for seconds in span] if span is not None else None

    def reason_without_severity(self) -> str:
        """Why the lines cannot tell how users fare; empty where they can."""
        logs = self.service_logs[self.gateway]
        if not logs.handled or not logs.handled.now:
            return f"no gateway figures: the lines of {self.gateway} tell of no requests"
        served = own_request_templates(
            self._kinds(self.gateway), self.callee_by_template, self.request_and_call, gateway=True
        )
        if reports_only_failures(served):
            return f"no gateway figures: {self.gateway} tells only of requests that failed"
        return ""

    def _kinds(self, service: str) -> list[LogTemplate]:
        return [kind for kind in self.log.log_stats.kinds.all.values() if kind.service == service]

    def evidence_lines(self, roots: Sequence[str], limit: int = 8) -> list[EvidenceLine]:
        """Lines of now that speak for some roots, by themselves or by others; those that grew most, in their order."""
        ranked = []
        for kind in self.log.log_stats.kinds.all.values():
            sample, weight = self.windows.now.samples.get(kind.number), self._weight(kind, roots)
            if sample is not None and weight > 0:
                ranked.append((weight, EvidenceLine(sample.number, sample.line, self.windows.now.counts[kind.number])))
        ranked.sort(key=lambda row: (-row[0], row[1]))
        return sorted(shown for _, shown in ranked[:limit])

    def _weight(self, kind: LogTemplate, roots: Sequence[str]) -> float:
        """How much a line is worth showing: the growth of its kind, or its delay; nothing if it is not about a root."""
        if kind.service not in roots and self.callee_by_template.get(kind.number) not in roots:
            return 0.0
        count = self.windows.count([kind])
        growth = (count.now + 0.5) / (count.before + 0.5)
        if kind.facts.started:
            return START_EVENT_WEIGHT
        if kind.alarming:
            named = 3 if kind.facts.failure is not FailureType.NONE else 1
            return named * growth if growth >= GROWTH_FACTOR else 0.0
        median = self.windows.median([kind])
        return (
            median.now / median.before / START_EVENT_WEIGHT
            if median and median.now >= GROWTH_FACTOR * median.before
            else 0.0
        )


def build_case(
    log: ParsedLog, topology: KnownTopology | None, owners: Mapping[str, str], split_at: str | None = None
) -> TriageCase:
    """Judge what each line speaks of, draw the catalogue, choose the windows and count both."""
    if topology is not None:
        check_shared(topology, {*log.names.writers, *log.log_stats.silent})
    aside = _infrastructure(log, topology)
    for kind in [kind for kind in log.log_stats.kinds.all.values() if kind.service in aside]:
        del log.log_stats.kinds.all[kind.number]
    told = {kind.number: log.names.callee_in(kind.service, kind.text) for kind in log.log_stats.kinds.all.values()}
    edges = _edges(log, told)
    services = {*log.names.writers, *log.log_stats.silent, *(name for edge in edges for name in edge)} - set(aside)
    if not services:
        raise ValueError(
            f"nothing to judge: no request passes through {abbreviate(aside)}, and nobody else writes here"
        )
    service_graph = build_service_graph(topology, edges, services, owners)
    calls = {(entry.name, callee) for entry in service_graph.catalogue.entries for callee in entry.calls}
    kinds = log.log_stats.kinds.all
    callee_by_template = {
        number: callee if (kinds[number].service, callee) in calls else "" for number, callee in told.items()
    }
    counted = windows(log.log_stats, split(log.log_stats, split_at))
    request_and_call = _request_and_call(log, callee_by_template)
    read = service_logs(
        log.log_stats,
        callee_by_template,
        counted,
        service_graph.catalogue.names,
        service_graph.catalogue.names[0],
        request_and_call,
    )
    notes = (*_warnings(log, aside), *service_graph.notes, *_failures_only(log, callee_by_template))
    return TriageCase(log, service_graph, counted, read, callee_by_template, request_and_call, notes)


def _request_and_call(log: ParsedLog, callee_by_template: Mapping[int, str]) -> frozenset[int]:
    """Kinds that tell of a call and of a request of the writer's own."""
    kinds = log.log_stats.kinds.all
    called = [kinds[number] for number, callee in callee_by_template.items() if callee]
    return frozenset(kind.number for kind in called if log.names.states_own_request(kind.service, kind.text))


def _infrastructure(log: ParsedLog, topology: KnownTopology | None) -> dict[str, str]:
    """Services whose lines are not judged, with the reason."""
    if topology is not None:
        return {name: why for name, why in topology.infrastructure.items() if name in log.names.writers}
    return {name: why for name in sorted(log.names.writers) if (why := infrastructure_reason(name))}


def _edges(log: ParsedLog, told: Mapping[int, str]) -> Counter[Edge]:
    """(caller, callee) to the lines that speak of it."""
    edges: Counter[Edge] = Counter()
    for number, callee in told.items():
        kind = log.log_stats.kinds.all[number]
        if callee and kind.lines:
            edges[kind.service, callee] += kind.lines
    return edges


def _warnings(log: ParsedLog, aside: Mapping[str, str]) -> Iterable[str]:
    log_stats = log.log_stats
    if log.unparsed_lines:
        shown = "; ".join(f"line {number}: {line!r}" for number, line in log.examples)
        yield f"{log.unparsed_lines} of {log.lines} lines fit no format and were not read: {shown}"
    if len(log.formats) > 1:
        yield "mixed formats: " + ", ".join(f"{name} ({count} lines)" for name, count in log.formats.most_common())
    if log_stats.odd_times:
        clock = log_stats.clock.value
        yield f"{log_stats.odd_times:,} times are of another kind than the rest ({clock}): the time before counts"
    if log_stats.zones_mixed:
        yield "only some times have a zone: the others are taken as UTC"
    if log_stats.outlying:
        yield f"left out, since their times are far from all others: {log_stats.outlying:,} lines"
    if log_stats.kinds.merged:
        yield f"very many kinds of lines: {log_stats.kinds.merged:,} rare ones were counted without their words"
    if aside:
        listed = ", ".join(f"{name} ({why})" for name, why in aside.items())
        yield f"not judged, since no request passes there: {listed}"
    if len(log.names.writers - set(aside)) < 2:
        yield f"only {abbreviate(log.names.writers - set(aside))} writes here: a log of the whole system tells more"


def _failures_only(log: ParsedLog, callee_by_template: Mapping[int, str]) -> list[str]:
    by_edge: dict[Edge, list[LogTemplate]] = {}
    for number, callee in callee_by_template.items():
        kind = log.log_stats.kinds.all[number]
        if callee and kind.lines and is_call_line(kind):
            by_edge.setdefault((kind.service, callee), []).append(kind)
    edges = [f"{a} -> {b}" for (a, b), kinds in sorted(by_edge.items()) if reports_only_failures(kinds)]
    if not edges:
        return []
    return [f"only failed calls are logged, so the caller's requests or lines stand for its calls: {abbreviate(edges)}"]
