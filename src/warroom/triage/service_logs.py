"""A counted log as what the environment's policies read: for each service its lines, requests, calls and patterns."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from warroom.envs.logs.views import CallLogs, Level, Overview, Pair, Pattern, ServiceLogs
from warroom.triage.facts import FailureType
from warroom.triage.log_stats import LogStats
from warroom.triage.log_templates import LogTemplate
from warroom.triage.time_buckets import TimeBucket
from warroom.triage.windows import WindowSplit

MAX_PATTERNS = 12
"""Patterns that are handed on of a service: those with most lines, the new ones first."""
ASSUMED_BASELINE_CALLS = 200
"""Calls and requests, none of them failed, of the ordinary time that is assumed where a log has no earlier lines: a
healthy call fails less often than that."""


@dataclass(frozen=True)
class WindowCounts:
    """The two stretches of a log that are compared."""

    split: WindowSplit
    before: TimeBucket
    now: TimeBucket

    def count(self, kinds: Iterable[LogTemplate]) -> Pair:
        """Lines of some kinds in both."""
        chosen = list(kinds)
        return Pair(*[sum(part.counts.get(kind.number, 0) for kind in chosen) for part in (self.before, self.now)])

    def median(self, kinds: Iterable[LogTemplate]) -> Pair | None:
        """Milliseconds in both; None unless both have some."""
        chosen = {kind.number for kind in kinds}
        pair = Pair(self.before.median(chosen), self.now.median(chosen))
        return pair if min(pair) > 0 else None


def windows(log_stats: LogStats, split: WindowSplit) -> WindowCounts:
    """Count both stretches."""
    return WindowCounts(
        split,
        log_stats.between(*split.before) if split.before else log_stats.between(0, 0),
        log_stats.between(*split.now),
    )


CalleeByTemplate = Mapping[int, str]
"""Number of a kind to the service that its text says was called; empty where none."""


def service_logs(
    log_stats: LogStats,
    callee_by_template: CalleeByTemplate,
    windows: WindowCounts,
    services: Iterable[str],
    gateway: str,
    request_and_call: Collection[int] = frozenset(),
) -> dict[str, ServiceLogs]:
    """What the logs of each service say; a service that wrote nothing at all has no logs.

    `both` are numbers of kinds that tell of a request of their writer and of a call at once.
    """
    by_service: dict[str, list[LogTemplate]] = {name: [] for name in services}
    for kind in log_stats.kinds.all.values():
        if kind.lines:
            by_service[kind.service].append(kind)
    served = {
        name: own_request_templates(kinds, callee_by_template, request_and_call, name == gateway)
        for name, kinds in by_service.items()
    }
    found = {
        name: _service_logs(name, kinds, served[name], callee_by_template, windows)
        for name, kinds in by_service.items()
    }
    return found if windows.split.before else {name: with_assumed_baseline(logs) for name, logs in found.items()}


def overview(service_logs: Mapping[str, ServiceLogs]) -> Overview:
    """How much every service writes."""
    return Overview(tuple(logs.level for logs in service_logs.values()))


def _service_logs(
    name: str,
    kinds: list[LogTemplate],
    served: list[LogTemplate],
    callee_by_template: CalleeByTemplate,
    windows: WindowCounts,
) -> ServiceLogs:
    if not kinds:
        return ServiceLogs(Level(name, None, None, None))
    handled = windows.count(served) if served else None
    level = _level(name, kinds, windows)
    return ServiceLogs(
        level,
        handled,
        windows.count(kind for kind in served if kind.facts.failure) if served else None,
        windows.median(served) if served else None,
        tuple(_calls(kinds, callee_by_template, windows, handled or level.lines or Pair(0, 0))),
        _patterns(kinds, windows),
        tuple(_started(kinds, windows)),
    )


def _level(name: str, kinds: list[LogTemplate], windows: WindowCounts) -> Level:
    by_level = [[kind for kind in kinds if kind.facts.level == level] for level in ("WARN", "ERROR")]
    return Level(name, windows.count(kinds), *[windows.count(some) for some in by_level])


def own_request_templates(
    kinds: Iterable[LogTemplate], callee_by_template: CalleeByTemplate, request_and_call: Collection[int], gateway: bool
) -> list[LogTemplate]:
    """Kinds that tell of the service's own requests; a line of a proxy is about its request and its call at once."""
    kinds = list(kinds)
    own = [
        kind
        for kind in kinds
        if kind.facts.request and (kind.number in request_and_call or not callee_by_template.get(kind.number))
    ]
    return own if own or not gateway else [kind for kind in kinds if kind.facts.request]


def _calls(
    kinds: list[LogTemplate], callee_by_template: CalleeByTemplate, windows: WindowCounts, requests: Pair
) -> Iterable[CallLogs]:
    by_callee: dict[str, list[LogTemplate]] = {}
    for kind in kinds:
        if callee_by_template.get(kind.number) and is_call_line(kind):
            by_callee.setdefault(callee_by_template[kind.number], []).append(kind)
    for callee in sorted(by_callee):
        yield _call(callee, by_callee[callee], windows, requests)


def _call(callee: str, kinds: list[LogTemplate], windows: WindowCounts, requests: Pair) -> CallLogs:
    """What lines say of one callee. Where only failures are told, the caller's requests stand for its calls."""
    failing = [kind for kind in kinds if kind.facts.failure]
    made, failed = windows.count(kinds), windows.count(failing)
    late = windows.count(kind for kind in failing if kind.facts.failure is FailureType.LATE)
    if reports_only_failures(kinds):
        made = Pair(max(made.before, requests.before), max(made.now, requests.now))
    share = round(100 * late.now / failed.now) if failed.now else 0
    return CallLogs(callee, made, failed, share, windows.median(kinds) or Pair(0, 0))


def is_call_line(kind: LogTemplate) -> bool:
    """Whether a line about another service is about one call of it: how it ended, or how long it took."""
    return kind.facts.request or kind.timed or kind.facts.failure is not FailureType.NONE


def reports_only_failures(kinds: Iterable[LogTemplate]) -> bool:
    """Whether none of these lines is of a call or request that went well."""
    return all(kind.facts.failure for kind in kinds)


def _patterns(kinds: list[LogTemplate], windows: WindowCounts) -> tuple[Pattern, ...]:
    rows = [
        Pattern(kind.facts.level, kind.text, windows.count([kind]))
        for kind in kinds
        if kind.facts.level in ("WARN", "ERROR")
    ]
    rows.sort(key=lambda row: (-row[2].now / (1 + row[2].before), row[1]))
    return tuple([row for row in rows if any(row[2])][:MAX_PATTERNS])


def _started(kinds: list[LogTemplate], windows: WindowCounts) -> Iterable[tuple[int, str]]:
    """Builds and jobs of both windows, in minutes before the end of now."""
    for kind in kinds:
        for counted in (windows.before, windows.now):
            sample = counted.samples.get(kind.number)
            if kind.facts.started and sample is not None:
                yield int((sample.seconds - windows.split.now[1]) // 60), kind.facts.started


def with_assumed_baseline(logs: ServiceLogs) -> ServiceLogs:
    """The logs beside an assumed ordinary time: `USUAL` calls and requests without a failure, durations unknown."""
    if logs.level.lines is None:
        return logs
    return replace(
        logs,
        handled=_usual(logs.handled) if logs.handled is not None else None,
        failed=Pair(0, logs.failed.now) if logs.failed is not None else None,
        median=None,
        calls=tuple([CallLogs(row[0], _usual(row[1]), Pair(0, row[2].now), row[3], Pair(0, 0)) for row in logs.calls]),
    )


def _usual(pair: Pair) -> Pair:
    return Pair(max(ASSUMED_BASELINE_CALLS, pair.now), pair.now)
