"""What it is and what helps: each cause is held against the marks that a suspect's logs bear.

The chances below are those of the training part of the drawn incidents, rounded: how often each mark is seen where the
cause is at work. A mark that was not looked at counts for nothing.
"""

from dataclasses import dataclass, field
from math import log
from typing import NamedTuple

from warroom.envs.logs.policies.keywords import UNFAMILIAR
from warroom.envs.logs.policies.system_view import SystemView

FRONT, STORE = ("gateway", "service"), ("db", "cache", "queue")


class Symptoms(NamedTuple):
    """What a suspect's logs show: yes, no, or not known."""

    fails: bool | None
    """Calls of it fail at once."""
    late: bool | None
    """Calls of it time out."""
    slow: bool | None
    """It takes longer."""
    surge: bool | None
    """It handles more than its callers ask for."""
    silent: bool | None
    """It owns up to few of the failures that its callers see: dead workers write nothing."""
    own: bool | None
    """It fails requests of its own, more than busy workers with full queues turn away."""
    grows: bool | None
    """It takes longer still than at an earlier look."""
    build: bool | None
    job: bool | None
    """A build, or a job, began shortly before."""


USUAL = {
    "fails": 0.02, "late": 0.05, "slow": 0.1, "surge": 0.02, "silent": 0.05, "own": 0.02, "grows": 0.18,
    "build": 0.1, "job": 0.3,
}  # fmt: skip
"""Chance of each mark where a cause does not bring it about."""


@dataclass(frozen=True)
class LogsCause:
    """One way to break, and the marks that it leaves."""

    name: str
    remedy: str
    """An act of `views.REMEDIES`; empty if none helps and one has to wait."""
    kinds: tuple[str, ...]
    prior_weight: float
    """How often it is met at services of its kinds, against the others."""
    words: str
    """Class of the words that mark it (`words.GENERAL`)."""
    keyword_probability: float
    """Chance that it is marked so."""
    chances: dict[str, float] = field(default_factory=dict)
    """Chance of each of the `Marks` that it brings about."""
    team: str = ""
    """Who has to be paged; empty: the owner of the service."""


_DRIFT = {"slow": 0.98, "late": 0.7, "grows": 0.82}
_POOL = {"fails": 0.3, "own": 0.25}
"""Stores that are slow enough run out of connections, and refuse."""
CAUSES = (
    LogsCause("crash", "restart", (*FRONT, *STORE), 2.0, "crash", 0.6, {"fails": 0.98, "silent": 0.92, "own": 0.1}),
    LogsCause("bad release", "rollback", FRONT, 2.0, "release", 0.6, {"fails": 0.98, "build": 0.97, "own": 0.95}),
    LogsCause("locks", "kill-query", ("db",), 3.0, "lock", 0.3, {"slow": 0.98, "late": 0.8, "fails": 0.3, "own": 0.3}),
    LogsCause(
        "overload",
        "scale",
        ("service", *STORE),
        3.0,
        "saturation",
        0.2,
        {"slow": 0.97, "late": 0.8, "fails": 0.5, "surge": 0.92, "own": 0.04},
    ),
    LogsCause("stale cache", "flush-cache", ("db", "cache"), 1.2, "plan_cache", 0.05, {**_DRIFT, **_POOL}),
    LogsCause("long report", "kill-query", ("db",), 1.5, "report", 0.05, {**_DRIFT, **_POOL, "job": 0.97}),
    LogsCause("memory leak", "restart", ("service",), 1.0, "leak", 0.05, _DRIFT),
    LogsCause("slower release", "rollback", ("service",), 1.0, "slow_release", 0.05, {**_DRIFT, "build": 0.97}),
    LogsCause("backlog", "scale", ("queue",), 2.0, "backlog", 0.05, {**_DRIFT, **_POOL}),
    LogsCause(
        "provider", "", ("service",), 3.0, "vendor", 0.95, {"fails": 0.97, "slow": 0.45, "own": 0.95}, team="sre"
    ),
    LogsCause(
        "abuse",
        "",
        ("service",),
        3.0,
        "abuse",
        0.95,
        {"fails": 0.9, "late": 0.45, "slow": 0.55, "surge": 0.97, "own": 0.85},
        team="security",
    ),
)
"""Every cause that the expert knows."""
STRAY_WORDS = 0.005
"""Chance of new words of a class that is not the cause's."""
UNKNOWN = 0.5
"""Share of the sentences about a cause in which no stem of it stands: every product has its own words."""
DOUBTED = 2.0
"""Nats that failures must have to count as seen."""
FAILS, SLOW, SURGE, GROWS = 0.012, 0.3, 0.28, 0.06
"""Share of calls that fail, and logarithms of the factors on durations (x1.35), on requests (x1.3) and on durations
since the earlier look, from which the mark counts."""
MANY, FULL = 0.11, 1.1
"""Share of its requests that full queues never turn away, and the least logarithm of the factor on durations (x3) that
they come with."""
SILENT_SHARE = 0.5
"""A service is silent if it logs less than this share of what its callers see fail."""
BUILD_SINCE, JOB_SINCE = (-7, -1), (-9, -3)
"""Minutes, relative to the page, in which a build or a job may have begun the trouble."""


class RankedCause(NamedTuple):
    """A cause and how well it fits, in nats."""

    log_odds: float
    cause: LogsCause


def symptoms_of(system_view: SystemView, service: str) -> Symptoms:
    """The marks of one suspect."""
    fails, late = _failing(system_view, service)
    change, has_logs = _change(system_view, service), system_view.has_logs(service)
    grown = system_view.latency_growth(service)
    fresh = has_logs and not system_view.readings[service].behind
    return Symptoms(
        fails=None if fails is None else fails >= FAILS,
        late=None if late is None else late >= FAILS,
        slow=None if change is None else change >= SLOW,
        surge=_surging(system_view, service),
        silent=_is_silent(system_view, service, fails),
        own=_own(system_view, service, change) if fresh else None,
        grows=None if grown is None else grown >= GROWS,
        build=_within(system_view.started(service, jobs=False), BUILD_SINCE) if has_logs else None,
        job=_within(system_view.started(service, jobs=True), JOB_SINCE) if has_logs else None,
    )


def _failing(system_view: SystemView, service: str) -> tuple[float | None, float | None]:
    """Shares of the calls of a service that fail at once and that time out; 0 while in doubt."""
    sign = system_view.observed_failures(service) or system_view.reported_failures(service)
    if sign is None:
        return None, None
    share, late = (sign.share if sign.weight >= DOUBTED else 0.0), system_view.late(service)
    return share * (1 - late), share * late


def _surging(system_view: SystemView, service: str) -> bool | None:
    """Logs that arrive late may be from before the surge."""
    logs = system_view.readings.get(service)
    if logs is None or logs.handled is None:
        return None
    return system_view.surge(service) >= SURGE or (None if logs.behind else False)


def _is_silent(system_view: SystemView, service: str, fails: float | None) -> bool | None:
    reported, refused = system_view.reported_failures(service), system_view.observed_failures(service)
    if reported is None or refused is None or not fails or fails < FAILS or system_view.readings[service].behind:
        return None
    return reported.share < SILENT_SHARE * fails


def _change(system_view: SystemView, service: str) -> float | None:
    """Logarithm of the factor on durations; callers that give up do not see all of it."""
    signs = [
        sign
        for sign in (system_view.observed_latency(service), system_view.reported_latency(service))
        if sign is not None
    ]
    return max([sign.change for sign in signs], default=None)


def _own(system_view: SystemView, service: str, change: float | None) -> bool:
    failing = system_view.own_failures(service) >= DOUBTED
    return failing and (system_view.own_failure_share(service) >= MANY or (change or 0.0) < FULL)


def _within(minutes: list[int], span: tuple[int, int]) -> bool:
    return any(span[0] <= minute <= span[1] for minute in minutes)


def rank_causes(system_view: SystemView, service: str) -> list[RankedCause]:
    """The causes that a service of this kind can have, the best first."""
    kind, marks, words = (
        system_view.catalogue.entry(service).kind,
        symptoms_of(system_view, service),
        system_view.words(service),
    )
    reported = set(words) if system_view.has_logs(service) else None
    found = [RankedCause(_fit(cause, marks, reported), cause) for cause in CAUSES if kind in cause.kinds]
    return sorted(found, key=lambda ranked: (-ranked.log_odds, ranked.cause.name))


def _fit(cause: LogsCause, marks: Symptoms, words: set[str] | None) -> float:
    """Logarithm of how often the cause is met, and met with these marks."""
    log_odds = log(cause.prior_weight) + (_of_words(cause, words) if words is not None else 0.0)
    for mark, seen in marks._asdict().items():
        if seen is not None:
            chance = cause.chances.get(mark, USUAL[mark])
            log_odds += log(chance if seen else 1 - chance)
    return log_odds


def _of_words(cause: LogsCause, words: set[str]) -> float:
    if UNFAMILIAR in words and cause.words not in words:
        spoken = UNKNOWN * cause.keyword_probability + STRAY_WORDS
    else:
        spoken = cause.keyword_probability if cause.words in words else 1 - cause.keyword_probability
    return log(spoken) + len(words - {cause.words, UNFAMILIAR}) * log(STRAY_WORDS)
