"""What it is and what helps: each cause is held against the marks that a suspect's logs bear.

The chances below are those of the training part of the drawn incidents, rounded: how often each mark is seen where the
cause is at work. A mark that was not looked at counts for nothing.
"""

from dataclasses import dataclass, field
from math import log
from typing import NamedTuple

from warroom.envs.logs.policies.picture import Picture
from warroom.envs.logs.policies.words import UNFAMILIAR

FRONT, STORE = ("gateway", "service"), ("db", "cache", "queue")


class Marks(NamedTuple):
    """What a suspect's logs show: yes, no, or not known."""

    fails: bool | None
    """Calls of it fail at once."""
    late: bool | None
    """Calls of it time out."""
    slow: bool | None
    """It takes longer."""
    surge: bool | None
    """It handles more than its callers ask for."""
    hushed: bool | None
    """It owns up to few of the failures that its callers see: dead workers write nothing."""
    own: bool | None
    """It fails requests of its own, more than busy workers with full queues turn away."""
    grows: bool | None
    """It takes longer still than at an earlier look."""
    build: bool | None
    job: bool | None
    """A build, or a job, began shortly before."""


USUAL = {
    "fails": 0.02, "late": 0.05, "slow": 0.1, "surge": 0.02, "hushed": 0.05, "own": 0.02, "grows": 0.18,
    "build": 0.1, "job": 0.3,
}  # fmt: skip
"""Chance of each mark where a cause does not bring it about."""


@dataclass(frozen=True)
class Cause:
    """One way to break, and the marks that it leaves."""

    name: str
    remedy: str
    """An act of `views.REMEDIES`; empty if none helps and one has to wait."""
    kinds: tuple[str, ...]
    often: float
    """How often it is met at services of its kinds, against the others."""
    words: str
    """Class of the words that mark it (`words.GENERAL`)."""
    speaks: float
    """Chance that it is marked so."""
    chances: dict[str, float] = field(default_factory=dict)
    """Chance of each of the `Marks` that it brings about."""
    team: str = ""
    """Who has to be paged; empty: the owner of the service."""


_DRIFT = {"slow": 0.98, "late": 0.7, "grows": 0.82}
_POOL = {"fails": 0.3, "own": 0.25}
"""Stores that are slow enough run out of connections, and refuse."""
CAUSES = (
    Cause("crash", "restart", (*FRONT, *STORE), 2.0, "crash", 0.6, {"fails": 0.98, "hushed": 0.92, "own": 0.1}),
    Cause("bad release", "rollback", FRONT, 2.0, "release", 0.6, {"fails": 0.98, "build": 0.97, "own": 0.95}),
    Cause("locks", "kill-query", ("db",), 3.0, "lock", 0.3, {"slow": 0.98, "late": 0.8, "fails": 0.3, "own": 0.3}),
    Cause(
        "overload", "scale", ("service", *STORE), 3.0, "saturation", 0.2,
        {"slow": 0.97, "late": 0.8, "fails": 0.5, "surge": 0.92, "own": 0.04},
    ),
    Cause("stale cache", "flush-cache", ("db", "cache"), 1.2, "plan_cache", 0.05, {**_DRIFT, **_POOL}),
    Cause("long report", "kill-query", ("db",), 1.5, "report", 0.05, {**_DRIFT, **_POOL, "job": 0.97}),
    Cause("memory leak", "restart", ("service",), 1.0, "leak", 0.05, _DRIFT),
    Cause("slower release", "rollback", ("service",), 1.0, "slow_release", 0.05, {**_DRIFT, "build": 0.97}),
    Cause("backlog", "scale", ("queue",), 2.0, "backlog", 0.05, {**_DRIFT, **_POOL}),
    Cause("provider", "", ("service",), 3.0, "vendor", 0.95, {"fails": 0.97, "slow": 0.45, "own": 0.95}, team="sre"),
    Cause(
        "abuse", "", ("service",), 3.0, "abuse", 0.95,
        {"fails": 0.9, "late": 0.45, "slow": 0.55, "surge": 0.97, "own": 0.85}, team="security",
    ),
)  # fmt: skip
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
HUSHED = 0.5
"""A service is hushed if it owns up to less than this share of what its callers see fail."""
BUILD_SINCE, JOB_SINCE = (-7, -1), (-9, -3)
"""Minutes, relative to the page, in which a build or a job may have begun the trouble."""


class Ranked(NamedTuple):
    """A cause and how well it fits, in nats."""

    nats: float
    cause: Cause


def marks_of(picture: Picture, service: str) -> Marks:
    """The marks of one suspect."""
    fails, late = _failing(picture, service)
    change, heard = _change(picture, service), picture.heard(service)
    grown = picture.grown(service)
    fresh = heard and not picture.readings[service].behind
    return Marks(
        fails=None if fails is None else fails >= FAILS,
        late=None if late is None else late >= FAILS,
        slow=None if change is None else change >= SLOW,
        surge=_surging(picture, service),
        hushed=_hushed(picture, service, fails),
        own=_own(picture, service, change) if fresh else None,
        grows=None if grown is None else grown >= GROWS,
        build=_within(picture.started(service, jobs=False), BUILD_SINCE) if heard else None,
        job=_within(picture.started(service, jobs=True), JOB_SINCE) if heard else None,
    )


def _failing(picture: Picture, service: str) -> tuple[float | None, float | None]:
    """Shares of the calls of a service that fail at once and that time out; 0 while in doubt."""
    sign = picture.refused(service) or picture.told(service)
    if sign is None:
        return None, None
    share, late = (sign.share if sign.weight >= DOUBTED else 0.0), picture.late(service)
    return share * (1 - late), share * late


def _surging(picture: Picture, service: str) -> bool | None:
    """Logs that arrive late may be from before the surge."""
    logs = picture.readings.get(service)
    if logs is None or logs.handled is None:
        return None
    return picture.surge(service) >= SURGE or (None if logs.behind else False)


def _hushed(picture: Picture, service: str, fails: float | None) -> bool | None:
    told, refused = picture.told(service), picture.refused(service)
    if told is None or refused is None or not fails or fails < FAILS or picture.readings[service].behind:
        return None
    return told.share < HUSHED * fails


def _change(picture: Picture, service: str) -> float | None:
    """Logarithm of the factor on durations; callers that give up do not see all of it."""
    signs = [sign for sign in (picture.waited(service), picture.takes(service)) if sign is not None]
    return max([sign.change for sign in signs], default=None)


def _own(picture: Picture, service: str, change: float | None) -> bool:
    failing = picture.own_failures(service) >= DOUBTED
    return failing and (picture.own_share(service) >= MANY or (change or 0.0) < FULL)


def _within(minutes: list[int], span: tuple[int, int]) -> bool:
    return any(span[0] <= minute <= span[1] for minute in minutes)


def ranking(picture: Picture, service: str) -> list[Ranked]:
    """The causes that a service of this kind can have, the best first."""
    kind, marks, words = picture.catalogue.entry(service).kind, marks_of(picture, service), picture.words(service)
    told = set(words) if picture.heard(service) else None
    found = [Ranked(_fit(cause, marks, told), cause) for cause in CAUSES if kind in cause.kinds]
    return sorted(found, key=lambda ranked: (-ranked.nats, ranked.cause.name))


def _fit(cause: Cause, marks: Marks, words: set[str] | None) -> float:
    """Logarithm of how often the cause is met, and met with these marks."""
    nats = log(cause.often) + (_of_words(cause, words) if words is not None else 0.0)
    for mark, seen in marks._asdict().items():
        if seen is not None:
            chance = cause.chances.get(mark, USUAL[mark])
            nats += log(chance if seen else 1 - chance)
    return nats


def _of_words(cause: Cause, words: set[str]) -> float:
    if UNFAMILIAR in words and cause.words not in words:
        spoken = UNKNOWN * cause.speaks + STRAY_WORDS
    else:
        spoken = cause.speaks if cause.words in words else 1 - cause.speaks
    return log(spoken) + len(words - {cause.words, UNFAMILIAR}) * log(STRAY_WORDS)
