"""The reply to a request for more logs: one service's lines counted and timed, before and now."""

from collections.abc import Iterator, Sequence

from warroom.envs.logs.incident import BEFORE
from warroom.envs.logs.normal import count, median
from warroom.envs.logs.patterns import patterns
from warroom.envs.logs.stream import HICCUPS, SERVICE, Stream
from warroom.envs.logs.views import WINDOW, CallLogs, Pair, ServiceLogs
from warroom.sim.snapshot import Snapshot


def service_logs(stream: Stream, service: int) -> ServiceLogs:
    """What the logs of one service say now."""
    level = stream.level(service)
    if level.lines is None:
        return ServiceLogs(level)
    incident, system = stream.incident, stream.system
    first, last, behind = stream.window(service)
    then, now = stream.world.snapshots[BEFORE], [stream.world.snapshots[m] for m in range(first, last + 1)]
    noise = iter(stream.noise(SERVICE, last, service, 6 + 6 * len(system.calls[service])))
    kept = 60 * incident.sampling_rate
    handled = Pair(
        count(WINDOW * kept * then.load[service], next(noise)),
        count(kept * sum([s.load[service] for s in now]), next(noise)),
    )
    failed = Pair(
        count(HICCUPS * handled.before, next(noise)),
        min(handled.now, count(_failures(stream, service, handled.now, now), next(noise))),
    )
    return ServiceLogs(
        level, handled, failed,
        _median(stream, service, last, then, now, handled, next(noise), next(noise)),
        tuple([_call(stream, service, k, last, then, now, noise) for k in range(len(system.calls[service]))]),
        patterns(stream, service, last, now),
        tuple([
            (minute, f"{what} {number}")
            for minute, i, what, number in incident.started
            if i == service and minute <= last
        ]),
        behind=behind,
    )  # fmt: skip


def _failures(stream: Stream, service: int, handled: float, now: Sequence[Snapshot]) -> float:
    """Requests that a service says it failed: dead workers say nothing, but the gateway notices its own."""
    share, silent = sum([s.error[service] for s in now]) / len(now), 0.0
    for fault, active in zip(stream.incident.faults, now[-1].active, strict=True):
        if service and active and fault.target == service and fault.mechanism.mutes_victim:
            silent = fault.mechanism.failing_share(fault)
    logged = 1 - (1 - share) / (1 - silent)
    return max(HICCUPS, logged) * handled


def _median(
    stream: Stream, service: int, last: int, then: Snapshot, now: Sequence[Snapshot], handled: Pair, a: int, b: int
) -> Pair | None:
    incident = stream.incident
    if not incident.timed[service]:
        return None
    before = stream.duration(service, BEFORE, then.latency[service])
    later = stream.duration(service, last - 1, sum([s.latency[service] for s in now]) / len(now))
    background = incident.drifting.get(service)
    if background is not None and last > background.minute:
        later *= background.factor
    spread = incident.tier_config.spread
    return Pair(median(before, spread, handled.before, a), median(later, spread, handled.now, b))


def _call(
    stream: Stream, caller: int, k: int, last: int, then: Snapshot, now: Sequence[Snapshot], noise: Iterator[int]
) -> CallLogs:
    """One row of a caller's calls."""
    call = stream.system.calls[caller][k]
    j, kept, spread = call.callee, 60 * stream.incident.sampling_rate, stream.incident.tier_config.spread
    usual = WINDOW * kept * then.load[caller] * call.rate
    made = failures = late = slow = 0.0
    for snapshot in now:
        calls = kept * snapshot.load[caller] * call.rate
        share, timeouts = edge_failures(snapshot, caller, j)
        made += calls
        failures += calls * share
        late += calls * share * timeouts
        slow += min(snapshot.latency[j], call.deadline)
    before, later = stream.duration(j, BEFORE, then.latency[j]), stream.duration(j, last - 1, slow / len(now))
    counted = count(made, next(noise))
    return CallLogs(
        stream.system.names[j],
        Pair(count(usual, next(noise)), counted),
        Pair(count(HICCUPS * usual, next(noise)), min(counted, count(max(HICCUPS * made, failures), next(noise)))),
        min(100, round(100 * late / failures)) if failures else 50,
        Pair(median(before, spread, usual, next(noise)), median(later, spread, made, next(noise))),
    )


def edge_failures(snapshot: Snapshot, caller: int, callee: int) -> tuple[float, float]:
    """(share of the calls that fail, share of those that are timeouts) of one call edge."""
    for i, j, share, late, _ in snapshot.failing:
        if i == caller and j == callee:
            return share, late
    return 0.0, 0.0
