"""A counted log as what the environment's policies read: for each service its lines, requests, calls and patterns."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from warroom.envs.logs.views import CallLogs, Level, Overview, Pair, Pattern, ServiceLogs
from warroom.importers.logs.counts import Slice
from warroom.importers.logs.facts import Failure
from warroom.importers.logs.kinds import Kind
from warroom.importers.logs.tally import Tally
from warroom.importers.logs.windows import Split

PATTERNS = 12
"""Patterns that are handed on of a service: those with most lines, the new ones first."""
USUAL = 200
"""Calls and requests, none of them failed, of the ordinary time that is assumed where a log has no earlier lines: a
healthy call fails less often than that."""


@dataclass(frozen=True)
class Windows:
    """The two stretches of a log that are compared."""

    split: Split
    before: Slice
    now: Slice

    def count(self, kinds: Iterable[Kind]) -> Pair:
        """Lines of some kinds in both."""
        chosen = list(kinds)
        return Pair(*[sum(part.counts.get(kind.number, 0) for kind in chosen) for part in (self.before, self.now)])

    def median(self, kinds: Iterable[Kind]) -> Pair | None:
        """Milliseconds in both; None unless both have some."""
        chosen = {kind.number for kind in kinds}
        pair = Pair(self.before.median(chosen), self.now.median(chosen))
        return pair if min(pair) > 0 else None


def windows(tally: Tally, split: Split) -> Windows:
    """Count both stretches."""
    return Windows(
        split, tally.between(*split.before) if split.before else tally.between(0, 0), tally.between(*split.now)
    )


Spoken = Mapping[int, str]
"""Number of a kind to the service that its text says was called; empty where none."""


def readings(
    tally: Tally,
    spoken: Spoken,
    windows: Windows,
    services: Iterable[str],
    gateway: str,
    both: Collection[int] = frozenset(),
) -> dict[str, ServiceLogs]:
    """What the logs of each service say; a service that wrote nothing at all has no logs.

    `both` are numbers of kinds that tell of a request of their writer and of a call at once.
    """
    by_service: dict[str, list[Kind]] = {name: [] for name in services}
    for kind in tally.kinds.all.values():
        if kind.lines:
            by_service[kind.service].append(kind)
    served = {name: served_of(kinds, spoken, both, name == gateway) for name, kinds in by_service.items()}
    found = {name: _one(name, kinds, served[name], spoken, windows) for name, kinds in by_service.items()}
    return found if windows.split.before else {name: with_usual(logs) for name, logs in found.items()}


def overview(readings: Mapping[str, ServiceLogs]) -> Overview:
    """How much every service writes."""
    return Overview(tuple(logs.level for logs in readings.values()))


def _one(name: str, kinds: list[Kind], served: list[Kind], spoken: Spoken, windows: Windows) -> ServiceLogs:
    if not kinds:
        return ServiceLogs(Level(name, None, None, None))
    handled = windows.count(served) if served else None
    level = _level(name, kinds, windows)
    return ServiceLogs(
        level,
        handled,
        windows.count(kind for kind in served if kind.facts.failure) if served else None,
        windows.median(served) if served else None,
        tuple(_calls(kinds, spoken, windows, handled or level.lines or Pair(0, 0))),
        _patterns(kinds, windows),
        tuple(_started(kinds, windows)),
    )


def _level(name: str, kinds: list[Kind], windows: Windows) -> Level:
    by_level = [[kind for kind in kinds if kind.facts.level == level] for level in ("WARN", "ERROR")]
    return Level(name, windows.count(kinds), *[windows.count(some) for some in by_level])


def served_of(kinds: Iterable[Kind], spoken: Spoken, both: Collection[int], gateway: bool) -> list[Kind]:
    """Kinds that tell of the service's own requests; a line of a proxy is about its request and its call at once."""
    kinds = list(kinds)
    own = [kind for kind in kinds if kind.facts.request and (kind.number in both or not spoken.get(kind.number))]
    return own if own or not gateway else [kind for kind in kinds if kind.facts.request]


def _calls(kinds: list[Kind], spoken: Spoken, windows: Windows, requests: Pair) -> Iterable[CallLogs]:
    by_callee: dict[str, list[Kind]] = {}
    for kind in kinds:
        if spoken.get(kind.number) and tells_of_a_call(kind):
            by_callee.setdefault(spoken[kind.number], []).append(kind)
    for callee in sorted(by_callee):
        yield _call(callee, by_callee[callee], windows, requests)


def _call(callee: str, kinds: list[Kind], windows: Windows, requests: Pair) -> CallLogs:
    """What lines say of one callee. Where only failures are told, the caller's requests stand for its calls."""
    failing = [kind for kind in kinds if kind.facts.failure]
    made, failed = windows.count(kinds), windows.count(failing)
    late = windows.count(kind for kind in failing if kind.facts.failure is Failure.LATE)
    if tells_failures_only(kinds):
        made = Pair(max(made.before, requests.before), max(made.now, requests.now))
    share = round(100 * late.now / failed.now) if failed.now else 0
    return CallLogs(callee, made, failed, share, windows.median(kinds) or Pair(0, 0))


def tells_of_a_call(kind: Kind) -> bool:
    """Whether a line about another service is about one call of it: how it ended, or how long it took."""
    return kind.facts.request or kind.timed or kind.facts.failure is not Failure.NONE


def tells_failures_only(kinds: Iterable[Kind]) -> bool:
    """Whether none of these lines is of a call or request that went well."""
    return all(kind.facts.failure for kind in kinds)


def _patterns(kinds: list[Kind], windows: Windows) -> tuple[Pattern, ...]:
    rows = [
        Pattern(kind.facts.level, kind.text, windows.count([kind]))
        for kind in kinds
        if kind.facts.level in ("WARN", "ERROR")
    ]
    rows.sort(key=lambda row: (-row[2].now / (1 + row[2].before), row[1]))
    return tuple([row for row in rows if any(row[2])][:PATTERNS])


def _started(kinds: list[Kind], windows: Windows) -> Iterable[tuple[int, str]]:
    """Builds and jobs of both windows, in minutes before the end of now."""
    for kind in kinds:
        for counted in (windows.before, windows.now):
            sample = counted.samples.get(kind.number)
            if kind.facts.started and sample is not None:
                yield int((sample.seconds - windows.split.now[1]) // 60), kind.facts.started


def with_usual(logs: ServiceLogs) -> ServiceLogs:
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
    return Pair(max(USUAL, pair.now), pair.now)
