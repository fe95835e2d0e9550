"""Other causes that might explain what the logs say: simulated, read through the same instruments, and compared.

Both readings share their noise, so that what differs is what the causes make differ; it is told in standard deviations
of the noise that two readings taken apart would have.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import hypot, sqrt
from typing import NamedTuple

from warroom.envs.logs import oracle
from warroom.envs.logs.draw import victims
from warroom.envs.logs.env import LogTriage
from warroom.envs.logs.incident import Dial, Triage
from warroom.envs.logs.reply import service_logs
from warroom.envs.logs.stream import Stream
from warroom.envs.logs.views import Pair, ServiceLogs
from warroom.sim import outages
from warroom.sim.faults import Fault, Mechanism
from warroom.sim.world import World

SEVERITIES = tuple([(2 * k + 1) / 24 for k in range(12)])
"""Severities at which another cause is tried; the one that users feel most alike is compared."""
APART = 3.0
"""Noise standard deviations by which every cause elsewhere has to differ, in one look at all services."""
MOST = 5.0
"""Standard deviations that one noisy reading can count for: a single odd one must not decide."""


class Rival(NamedTuple):
    """Another cause of the first root's trouble."""

    mechanism: str
    service: str
    distance: float
    """Noise standard deviations between what the logs say of it and what they say."""


class Rivals(NamedTuple):
    """The causes that come nearest."""

    elsewhere: Rival
    here: Rival
    """Another mechanism at the root itself, which words, builds and jobs have to tell apart."""


def nearest_rivals(env: LogTriage) -> Rivals:
    """The nearest causes elsewhere and at the root of a fresh incident."""
    own, elsewhere, here = readings(env.incident, env.world), list[Rival](), list[Rival]()
    for mechanism, target in alternatives(env.incident):
        incident, world = likest(env, mechanism, target)
        apart = distance(own, readings(incident, world), env.incident.dial)
        rival = Rival(mechanism.name, incident.system.names[target], round(apart, 2))
        (here if target in env.incident.roots else elsewhere).append(rival)
    return Rivals(*[min(found, key=lambda rival: rival.distance) for found in (elsewhere, here)])


def alternatives(incident: Triage) -> Iterator[tuple[Mechanism, int]]:
    """Every mechanism at every service that it fits, but for the roots' own."""
    own = {(fault.mechanism.name, fault.target) for fault in incident.faults}
    others = {fault.target for fault in incident.faults[1:]}
    for mechanism in [m for m in vars(outages).values() if isinstance(m, Mechanism)]:
        for target in victims(incident.system, mechanism):
            if (mechanism.name, target) not in own and target not in others:
                yield mechanism, target


def likest(env: LogTriage, mechanism: Mechanism, target: int) -> tuple[Triage, World]:
    """The incident with another first cause, as bad for users as its own or as near to it as it gets."""
    tried = [_with(env.incident, Fault(mechanism, target, env.incident.faults[0].onset, s)) for s in SEVERITIES]
    grade = env.certificate.impact.grade
    return min(tried, key=lambda one: abs(oracle.impact(one[1]).grade - grade))


def _with(incident: Triage, cause: Fault) -> tuple[Triage, World]:
    base = replace(incident.base, faults=(cause, *incident.faults[1:]))
    return replace(incident, base=base), oracle.until_page(oracle.before_onset(base), base)


def readings(incident: Triage, world: World) -> list[ServiceLogs]:
    """What the logs of all services say at the page."""
    stream = Stream(incident, world)
    return [service_logs(stream, i) for i in range(incident.system.size)]


def distance(a: list[ServiceLogs], b: list[ServiceLogs], dial: Dial) -> float:
    """Noise standard deviations between two sets of readings (Euclidean, as if all were taken at once)."""
    return hypot(*[d for x, y in zip(a, b, strict=True) if x.level.lines for d in _between(x, y, dial)])


def _between(a: ServiceLogs, b: ServiceLogs, dial: Dial) -> Iterator[float]:
    assert a.handled and b.handled and a.failed and b.failed
    yield from (_counts(a.handled, b.handled), _counts(a.failed, b.failed))
    if a.median and b.median:
        yield _medians(a.median, b.median, min(a.handled.now, b.handled.now), dial)
    for x, y in zip(a.calls, b.calls, strict=True):
        yield from (_counts(x.made, y.made), _counts(x.failed, y.failed))
        yield _medians(x.median, y.median, min(x.made.now, y.made.now), dial)
        failed = min(x.failed.now, y.failed.now)
        yield min(MOST, abs(x.late - y.late) / (100 * sqrt(0.5 / max(1.0, failed)))) if failed else 0.0


def _counts(a: Pair, b: Pair) -> float:
    return min(MOST, abs(a.now - b.now) / sqrt(max(1.0, a.now + b.now)))


def _medians(a: Pair, b: Pair, size: float, dial: Dial) -> float:
    """The error of a median is 1.25 times that of a mean; healthy ones wander besides."""
    error = hypot(1.25 * dial.spread / sqrt(max(3.0, size)), dial.wander)
    return min(MOST, abs(a.now - b.now) / (sqrt(2) * error * max(1.0, a.now, b.now)))
