"""Other causes that might explain the logs: each is simulated, summarised like the incident itself, and compared.

Both summaries share their noise, so that they differ by their causes alone; the difference is expressed in standard
deviations of the noise that two independent summaries would have.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import hypot, sqrt
from typing import NamedTuple

from warroom.envs.logs import oracle
from warroom.envs.logs.draw import candidate_targets
from warroom.envs.logs.env import LogsEnv
from warroom.envs.logs.incident import LogsIncident, LogsTierConfig
from warroom.envs.logs.service_summary import service_logs
from warroom.envs.logs.stream import Stream
from warroom.envs.logs.views import Pair, ServiceLogs
from warroom.evals.audit.certify import MAX_DEVIATION, AlternativeCause, nearest
from warroom.sim import outages
from warroom.sim.mechanism import Fault, Mechanism
from warroom.sim.world import World

SEVERITIES = tuple([(2 * k + 1) / 24 for k in range(12)])
"""Severities at which another cause is tried; the one with the most similar impact on users is compared."""
MIN_DISTANCE = 3.0
"""Noise standard deviations by which every cause elsewhere has to differ in one observation of all services."""


class NearestAlternatives(NamedTuple):
    """The alternatives to the first root that explain the logs best."""

    elsewhere: AlternativeCause
    here: AlternativeCause
    """Another mechanism at the root itself, which wordings, builds and jobs have to distinguish."""


def find_nearest_alternatives(env: LogsEnv) -> NearestAlternatives:
    """The nearest causes elsewhere and at the root of a fresh incident."""
    own, elsewhere, here = readings(env.incident, env.world), list[AlternativeCause](), list[AlternativeCause]()
    for mechanism, target in alternatives(env.incident):
        incident, world = closest_variant(env, mechanism, target)
        separation = distance(own, readings(incident, world), env.incident.tier_config)
        alternative = AlternativeCause(mechanism.name, incident.system.names[target], round(separation, 2))
        (here if target in env.incident.roots else elsewhere).append(alternative)
    return NearestAlternatives(nearest(elsewhere), nearest(here))


def alternatives(incident: LogsIncident) -> Iterator[tuple[Mechanism, int]]:
    """Every mechanism at every service that it fits, but for the roots' own."""
    own = {(fault.mechanism.name, fault.target) for fault in incident.faults}
    others = {fault.target for fault in incident.faults[1:]}
    for mechanism in [m for m in vars(outages).values() if isinstance(m, Mechanism)]:
        for target in candidate_targets(incident.system, mechanism):
            if (mechanism.name, target) not in own and target not in others:
                yield mechanism, target


def closest_variant(env: LogsEnv, mechanism: Mechanism, target: int) -> tuple[LogsIncident, World]:
    """The incident with another first cause, as bad for users as its own or as near to it as it gets."""
    tried = [_with_cause(env.incident, Fault(mechanism, target, env.incident.faults[0].onset, s)) for s in SEVERITIES]
    grade = env.certificate.impact.grade
    return min(tried, key=lambda one: abs(oracle.impact(one[1]).grade - grade))


def _with_cause(incident: LogsIncident, cause: Fault) -> tuple[LogsIncident, World]:
    base = replace(incident.base, faults=(cause, *incident.faults[1:]))
    return replace(incident, base=base), oracle.advance_to_page(oracle.before_onset(base), base)


def readings(incident: LogsIncident, world: World) -> list[ServiceLogs]:
    """Summaries of the logs of all services at the first observation."""
    stream = Stream(incident, world)
    return [service_logs(stream, i) for i in range(incident.system.size)]


def distance(a: list[ServiceLogs], b: list[ServiceLogs], tier_config: LogsTierConfig) -> float:
    """Noise standard deviations between two sets of summaries (Euclidean)."""
    return hypot(
        *[d for x, y in zip(a, b, strict=True) if x.level.lines for d in _reading_deviations(x, y, tier_config)]
    )


def _reading_deviations(a: ServiceLogs, b: ServiceLogs, tier_config: LogsTierConfig) -> Iterator[float]:
    assert a.handled and b.handled and a.failed and b.failed
    yield from (_count_deviation(a.handled, b.handled), _count_deviation(a.failed, b.failed))
    if a.median and b.median:
        yield _median_deviation(a.median, b.median, min(a.handled.now, b.handled.now), tier_config)
    for x, y in zip(a.calls, b.calls, strict=True):
        yield from (_count_deviation(x.made, y.made), _count_deviation(x.failed, y.failed))
        yield _median_deviation(x.median, y.median, min(x.made.now, y.made.now), tier_config)
        failed = min(x.failed.now, y.failed.now)
        yield min(MAX_DEVIATION, abs(x.late - y.late) / (100 * sqrt(0.5 / max(1.0, failed)))) if failed else 0.0


def _count_deviation(a: Pair, b: Pair) -> float:
    return min(MAX_DEVIATION, abs(a.now - b.now) / sqrt(max(1.0, a.now + b.now)))


def _median_deviation(a: Pair, b: Pair, size: float, tier_config: LogsTierConfig) -> float:
    """The standard error of a median is 1.25 times that of a mean; medians of healthy services drift in addition."""
    error = hypot(1.25 * tier_config.spread / sqrt(max(3.0, size)), tier_config.latency_jitter)
    return min(MAX_DEVIATION, abs(a.now - b.now) / (sqrt(2) * error * max(1.0, a.now, b.now)))
