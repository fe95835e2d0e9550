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
    CallsByTemplate,
    WindowCounts,
    is_call_line,
    overview,
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
from warroom.triage.windows import TimeSpan, WindowSplit, split

GROWTH_FACTOR = 1.5
"""Factor on the count or the durations of a template from which one of its lines is shown."""
UNPARSED_WARNING_SHARE = 0.25
"""Share of unparsed lines from which the others may not represent the log."""
START_EVENT_WEIGHT = 100.0
"""Weight of a build or job that began; delays weigh less than alarms by the same factor."""


class EvidenceLine(NamedTuple):
    """A line of the file that led to a verdict."""

    number: int
    """From 1."""
    line: str
    similar: int
    """Lines of its template in the window now."""


@dataclass(frozen=True)
class TriageCase:
    """Everything that a policy needs to judge a log."""

    log: ParsedLog
    service_graph: ServiceGraph
    windows: WindowCounts
    service_logs: Mapping[str, ServiceLogs]
    calls: CallsByTemplate
    warnings: tuple[str, ...]

    @property
    def catalogue(self) -> Catalogue:
        """All services."""
        return self.service_graph.catalogue

    @property
    def overview(self) -> Overview:
        """How much each service writes."""
        return overview(self.service_logs)

    @property
    def split(self) -> WindowSplit:
        """The windows that are compared."""
        return self.windows.split

    @property
    def unparsed_warning(self) -> str:
        """How many lines were not parsed, if so many that the rest may mislead; else empty."""
        share = self.log.unparsed_share
        return f"{100 * share:.0f}% of the lines were not read" if share >= UNPARSED_WARNING_SHARE else ""

    @property
    def gateway(self) -> str:
        """Where users arrive."""
        return self.catalogue.names[0]

    def times(self, span: TimeSpan | None) -> list[str] | None:
        """A window as the log's own times: its first moment and its end."""
        return [format_time(self.log.log_stats.clock, seconds) for seconds in span] if span is not None else None

    def reason_without_severity(self) -> str:
        """Why the lines do not show the effect on users; empty where they do."""
        logs = self.service_logs[self.gateway]
        if not logs.handled or not logs.handled.now:
            return f"no gateway figures: the lines of {self.gateway} report no requests"
        served = self.calls.own_requests(self._templates(self.gateway), gateway=True)
        if reports_only_failures(served):
            return f"no gateway figures: {self.gateway} reports only requests that failed"
        return ""

    def _templates(self, service: str) -> list[LogTemplate]:
        return [template for template in self.log.log_stats.templates.all.values() if template.service == service]

    def evidence_lines(self, roots: Sequence[str], limit: int = 8) -> list[EvidenceLine]:
        """Lines of now that speak for some roots, by themselves or by others; those that grew most, in their order."""
        ranked = []
        for template in self.log.log_stats.templates.all.values():
            sample, weight = self.windows.now.samples.get(template.number), self._weight(template, roots)
            if sample is not None and weight > 0:
                ranked.append(
                    (weight, EvidenceLine(sample.number, sample.line, self.windows.now.counts[template.number]))
                )
        ranked.sort(key=lambda row: (-row[0], row[1]))
        return sorted(shown for _, shown in ranked[:limit])

    def _weight(self, template: LogTemplate, roots: Sequence[str]) -> float:
        """The weight of a template as evidence: its growth, or its delay; 0 if it is not about a root."""
        if template.service not in roots and self.calls.callees.get(template.number) not in roots:
            return 0.0
        count = self.windows.count([template])
        growth = (count.now + 0.5) / (count.before + 0.5)
        if template.facts.started:
            return START_EVENT_WEIGHT
        if template.alarming:
            named = 3 if template.facts.failure is not FailureType.NONE else 1
            return named * growth if growth >= GROWTH_FACTOR else 0.0
        median = self.windows.median([template])
        slower = median is not None and median.now >= GROWTH_FACTOR * median.before
        return median.now / median.before / START_EVENT_WEIGHT if median and slower else 0.0


def build_case(
    log: ParsedLog, topology: KnownTopology | None, owners: Mapping[str, str], split_at: str | None = None
) -> TriageCase:
    """Find the callee that each line mentions, build the catalogue, choose the windows and count both."""
    if topology is not None:
        check_shared(topology, {*log.names.writers, *log.log_stats.silent})
    infrastructure = _infrastructure(log, topology)
    templates = log.log_stats.templates.all
    for number in [number for number, template in templates.items() if template.service in infrastructure]:
        del templates[number]
    mentioned = {number: log.names.callee_in(each.service, each.text) for number, each in templates.items()}
    mentions = _mentions(log, mentioned)
    service_graph = build_service_graph(topology, mentions, _services(log, mentions, infrastructure), owners)
    counts = windows(log.log_stats, split(log.log_stats, split_at))
    calls, names = _calls_by_template(log, mentioned, service_graph.catalogue), service_graph.catalogue.names
    logs = service_logs(log.log_stats, calls, counts, names, names[0])
    warnings = (*_warnings(log, infrastructure), *service_graph.notes, *_failures_only(log, calls))
    return TriageCase(log, service_graph, counts, logs, calls, warnings)


def _calls_by_template(log: ParsedLog, mentioned: Mapping[int, str], catalogue: Catalogue) -> CallsByTemplate:
    """The mentions that are calls of the catalogue."""
    templates = log.log_stats.templates.all
    calls = {(entry.name, callee) for entry in catalogue.entries for callee in entry.calls}
    callees = {
        number: callee if (templates[number].service, callee) in calls else "" for number, callee in mentioned.items()
    }
    calling = [templates[number] for number, callee in callees.items() if callee]
    states_request = log.names.states_own_request
    return CallsByTemplate(
        callees, frozenset(each.number for each in calling if states_request(each.service, each.text))
    )


def _infrastructure(log: ParsedLog, topology: KnownTopology | None) -> dict[str, str]:
    """Services whose lines are not judged, with the reason."""
    if topology is not None:
        return {name: why for name, why in topology.infrastructure.items() if name in log.names.writers}
    return {name: why for name in sorted(log.names.writers) if (why := infrastructure_reason(name))}


def _mentions(log: ParsedLog, mentioned: Mapping[int, str]) -> Counter[Edge]:
    """(caller, callee) to the number of lines that mention it."""
    edges: Counter[Edge] = Counter()
    for number, callee in mentioned.items():
        template = log.log_stats.templates.all[number]
        if callee and template.lines:
            edges[template.service, callee] += template.lines
    return edges


def _services(log: ParsedLog, mentions: Iterable[Edge], infrastructure: Mapping[str, str]) -> set[str]:
    """All services that write, are silent or are called."""
    called = {name for edge in mentions for name in edge}
    services = (log.names.writers | log.log_stats.silent | called) - set(infrastructure)
    if not services:
        listed = abbreviate(infrastructure)
        raise ValueError(f"nothing to judge: no request passes through {listed}, and no other service writes here")
    return services


def _warnings(log: ParsedLog, infrastructure: Mapping[str, str]) -> Iterable[str]:
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
    if log_stats.templates.merged:
        yield f"very many kinds of lines: {log_stats.templates.merged:,} rare ones were counted without their words"
    if infrastructure:
        listed = ", ".join(f"{name} ({why})" for name, why in infrastructure.items())
        yield f"not judged, since no request passes there: {listed}"
    judged = log.names.writers - set(infrastructure)
    if len(judged) < 2:
        yield f"only {abbreviate(judged)} writes here: a log of the whole system shows more"


def _failures_only(log: ParsedLog, calls: CallsByTemplate) -> list[str]:
    by_edge: dict[Edge, list[LogTemplate]] = {}
    for number, callee in calls.callees.items():
        template = log.log_stats.templates.all[number]
        if callee and template.lines and is_call_line(template):
            by_edge.setdefault((template.service, callee), []).append(template)
    edges = [f"{a} -> {b}" for (a, b), templates in sorted(by_edge.items()) if reports_only_failures(templates)]
    if not edges:
        return []
    return [
        f"only failed calls are logged, so the caller's requests or lines are taken as its calls: {abbreviate(edges)}"
    ]
