"""A counted log as the environment's policies read it: for each service its lines, requests, calls and patterns."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from warroom.envs.logs.views import CallLogs, Level, Overview, Pair, Pattern, ServiceLogs
from warroom.triage.facts import FailureType
from warroom.triage.log_stats import LogStats
from warroom.triage.log_templates import LogTemplate
from warroom.triage.time_buckets import TimeBucket
from warroom.triage.windows import WindowSplit

MAX_PATTERNS = 12
"""Patterns of a service that are kept: those that grew most."""
ASSUMED_BASELINE_CALLS = 200
"""Calls and requests, none of them failed, of the baseline that is assumed where a log has no earlier lines: a healthy
call fails less often than that."""


@dataclass(frozen=True)
class WindowCounts:
    """The counts of the two windows of a log that are compared."""

    split: WindowSplit
    before: TimeBucket
    now: TimeBucket

    def count(self, templates: Iterable[LogTemplate]) -> Pair:
        """Lines of some templates in both windows."""
        chosen = list(templates)
        return Pair(
            *[sum(part.counts.get(template.number, 0) for template in chosen) for part in (self.before, self.now)]
        )

    def median(self, templates: Iterable[LogTemplate]) -> Pair | None:
        """Milliseconds in both windows; None unless both have some."""
        chosen = {template.number for template in templates}
        pair = Pair(self.before.median(chosen), self.now.median(chosen))
        return pair if min(pair) > 0 else None


def windows(log_stats: LogStats, split: WindowSplit) -> WindowCounts:
    """Count both windows."""
    before = log_stats.between(*split.before) if split.before else TimeBucket()
    return WindowCounts(split, before, log_stats.between(*split.now))


class CallsByTemplate(NamedTuple):
    """Which calls and requests templates report, by the numbers of the templates."""

    callees: Mapping[int, str]
    """The service that the text says was called; empty where none."""
    with_request: Collection[int] = frozenset()
    """Templates that report a request of their writer and a call at once, as those of a proxy do."""

    def own_requests(self, templates: Iterable[LogTemplate], *, gateway: bool) -> list[LogTemplate]:
        """Templates that report the service's own requests."""
        requests = [template for template in templates if template.facts.request]
        own = [each for each in requests if each.number in self.with_request or not self.callees.get(each.number)]
        return own if own or not gateway else requests

    def by_callee(self, templates: Iterable[LogTemplate]) -> dict[str, list[LogTemplate]]:
        """Templates that report calls, by the services that were called."""
        found: dict[str, list[LogTemplate]] = {}
        for template in templates:
            callee = self.callees.get(template.number)
            if callee and is_call_line(template):
                found.setdefault(callee, []).append(template)
        return found


def service_logs(
    log_stats: LogStats, calls: CallsByTemplate, windows: WindowCounts, services: Iterable[str], gateway: str
) -> dict[str, ServiceLogs]:
    """What the logs of each service say; a service that wrote nothing at all has no logs."""
    by_service: dict[str, list[LogTemplate]] = {name: [] for name in services}
    for template in log_stats.templates.all.values():
        if template.lines:
            by_service[template.service].append(template)
    logs = {
        name: _service_logs(name, templates, calls.own_requests(templates, gateway=name == gateway), calls, windows)
        for name, templates in by_service.items()
    }
    return logs if windows.split.before else {name: with_assumed_baseline(each) for name, each in logs.items()}


def overview(service_logs: Mapping[str, ServiceLogs]) -> Overview:
    """How much every service writes."""
    return Overview(tuple(logs.level for logs in service_logs.values()))


def _service_logs(
    name: str,
    templates: list[LogTemplate],
    served: list[LogTemplate],
    calls: CallsByTemplate,
    windows: WindowCounts,
) -> ServiceLogs:
    if not templates:
        return ServiceLogs(Level(name, None, None, None))
    handled = windows.count(served) if served else None
    level = _level(name, templates, windows)
    requests = handled or level.lines or Pair(0, 0)
    by_callee = calls.by_callee(templates)
    return ServiceLogs(
        level,
        handled,
        windows.count(template for template in served if template.facts.failure) if served else None,
        windows.median(served) if served else None,
        tuple(_call(callee, by_callee[callee], windows, requests) for callee in sorted(by_callee)),
        _patterns(templates, windows),
        tuple(_started(templates, windows)),
    )


def _level(name: str, templates: list[LogTemplate], windows: WindowCounts) -> Level:
    by_level = [[template for template in templates if template.facts.level == level] for level in ("WARN", "ERROR")]
    return Level(name, windows.count(templates), *[windows.count(some) for some in by_level])


def _call(callee: str, templates: list[LogTemplate], windows: WindowCounts, requests: Pair) -> CallLogs:
    """What lines say of one callee. Where only failures are logged, the caller's requests are taken as its calls."""
    failing = [template for template in templates if template.facts.failure]
    made, failed = windows.count(templates), windows.count(failing)
    late = windows.count(template for template in failing if template.facts.failure is FailureType.LATE)
    if reports_only_failures(templates):
        made = Pair(max(made.before, requests.before), max(made.now, requests.now))
    share = round(100 * late.now / failed.now) if failed.now else 0
    return CallLogs(callee, made, failed, share, windows.median(templates) or Pair(0, 0))


def is_call_line(template: LogTemplate) -> bool:
    """Whether a line about another service is about one call of it: how it ended, or how long it took."""
    return template.facts.request or template.timed or template.facts.failure is not FailureType.NONE


def reports_only_failures(templates: Iterable[LogTemplate]) -> bool:
    """Whether none of these lines is of a call or request that went well."""
    return all(template.facts.failure for template in templates)


def _patterns(templates: list[LogTemplate], windows: WindowCounts) -> tuple[Pattern, ...]:
    patterns = [
        Pattern(template.facts.level, template.text, windows.count([template]))
        for template in templates
        if template.facts.level in ("WARN", "ERROR")
    ]
    patterns.sort(key=lambda pattern: (-pattern.occurrences.now / (1 + pattern.occurrences.before), pattern.text))
    return tuple([pattern for pattern in patterns if any(pattern.occurrences)][:MAX_PATTERNS])


def _started(templates: list[LogTemplate], windows: WindowCounts) -> Iterable[tuple[int, str]]:
    """Builds and jobs of both windows, in minutes before the end of now."""
    for template in templates:
        for counted in (windows.before, windows.now):
            sample = counted.samples.get(template.number)
            if template.facts.started and sample is not None:
                yield int((sample.seconds - windows.split.now.end) // 60), template.facts.started


def with_assumed_baseline(logs: ServiceLogs) -> ServiceLogs:
    """The logs with an assumed baseline: `ASSUMED_BASELINE_CALLS` without a failure, durations unknown."""
    if logs.level.lines is None:
        return logs
    return replace(
        logs,
        handled=_with_assumed(logs.handled) if logs.handled is not None else None,
        failed=Pair(0, logs.failed.now) if logs.failed is not None else None,
        median=None,
        calls=tuple(
            call._replace(made=_with_assumed(call.made), failed=Pair(0, call.failed.now), median=Pair(0, 0))
            for call in logs.calls
        ),
    )


def _with_assumed(pair: Pair) -> Pair:
    return Pair(max(ASSUMED_BASELINE_CALLS, pair.now), pair.now)
