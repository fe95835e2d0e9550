"""The physics of one minute: latency and errors from the callees up, then loads from the users down.

Loads of a minute follow from the failures of that minute, latency from the load of the minute before: the one-minute
lag makes retry feedback explicit, with no fixed point to iterate. A service whose load, parameters and callees are as
they were in the last sweep keeps its results, so a sweep costs what has changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from warroom.sim.topology import QUEUEING_LIMIT, Edge, ServiceSystem

SATURATED = 1.0 + 1.0 / (QUEUEING_LIMIT - 1.0)
"""Factor on own latency when the processor is full."""
STEADY_TOLERANCE = 2e-3
"""Relative change of load from one minute to the next below which it counts as unmoved."""

FailingCall = tuple[int, int, float, float, float]
"""A call edge in trouble in some minute: (caller, callee, share of attempts that fail, share of those that are
timeouts, first attempts per second). A bare tuple: a world makes thousands."""
ServiceParams = tuple[int, float, float, float, float, float, float, float, tuple[Edge, ...]]
"""What a sweep must know of one service: (service, own milliseconds, share of replies that are right if all callees
are, share of lookups that fail, room, request slots, wire, share of replies that get lost, are wrong or come too late
for every caller, its calls)."""


@dataclass(slots=True)
class Sweep:
    """What one sweep found, by service. Its lists are never written to: snapshots and the next sweep share them."""

    load: list[float]
    """Requests per second that the sweep started from."""
    latency: list[float]
    error: list[float]
    accepted: list[float]
    cpu: list[float]
    slots: list[float]
    flow: list[float]
    """Attempts per accepted request on each of the system's `wires`."""
    failing_calls: list[Sequence[FailingCall]]
    """Outgoing calls that fail."""
    caller_latency: list[float]
    """As callers see it: with the wire."""
    caller_error: list[float]
    """As callers see it: with lost, wrong and late replies."""


def timeout_share(latency: float, error: float, deadline: float) -> float:
    """Share of the attempts of a call that time out because the callee is slow as a whole, as the sweep has it.

    `latency` and `error` are those that callers see; the law is a test's, since the sweep writes it out.
    """
    z = latency / deadline
    return 0.0 if z < 0.6 and error < 1e-3 else z**8 / (1.0 + z**8)


def initial_sweep(system: ServiceSystem) -> Sweep:
    """A healthy world before its first sweep; no load equals its loads, so that sweep works every service out."""
    nowhere, zero, latency = [-1.0] * system.size, [0.0] * system.size, list(system.latency)
    return Sweep(nowhere, latency, zero, zero, zero, zero, list(system.rates), [()] * system.size, latency, zero)


def propagate_latency(
    system: ServiceSystem,
    parts: list[ServiceParams],
    *,
    budget: list[float],
    load: list[float],
    last: Sweep,
    stale: set[int],
    late_replies: Sequence[float] | None = None,
) -> Sweep:
    """Callees first. `stale` holds the services whose parameters have changed since `last`; it is used up.

    `late_replies` is the share of each service's replies that come after every caller has given up. Their callers wait
    to the deadline and see a timeout, everybody else is served as before; the shares are part of `ServiceParams` too.
    """
    before, latency, error, accepted = last.load, last.latency[:], last.error[:], last.accepted[:]
    cpu, slots, flow, failing_calls = last.cpu[:], last.slots[:], last.flow[:], last.failing_calls[:]
    caller_latency, caller_error = last.caller_latency[:], last.caller_error[:]
    callers = system.callers
    failing: list[FailingCall]
    for i, own, ok, lookup_failure, capacity, slot_capacity, link_delay, hidden, calls in reversed(parts):
        rps = load[i]
        if rps == before[i] and i not in stale:
            continue
        stale.update(callers[i])
        wait = 0.0
        failing_calls[i] = ()
        for j, rate, deadline, retries, weight, place in calls:
            lj = caller_latency[j]
            ej = caller_error[j]
            z = lj / deadline
            if z < 0.6 and ej < 1e-3 and not lookup_failure:
                wait += rate * lj
                flow[place] = rate
                continue
            z *= z
            z *= z
            z *= z
            late = z / (1.0 + z)
            p = 1.0 - (1.0 - ej) * (1.0 - late) * (1.0 - lookup_failure)
            cap = budget[j]
            extra = p * (retries if cap < 1.0 else 3.0)
            if extra > cap:
                extra = cap
            mean = lj if lj < deadline else deadline
            if late_replies is not None:
                mean += late_replies[j] * (deadline - mean)
                late = 1.0 - (1.0 - late) * (1.0 - late_replies[j])
                ej = 1.0 - (1.0 - ej) / (1.0 - late_replies[j])
            wait += rate * mean * (1.0 + extra)
            flow[place] = rate * (1.0 + extra) * (1.0 - lookup_failure)
            if not failing_calls[i]:
                failing_calls[i] = failing = []
            failing.append((i, j, p, late / (late + ej + lookup_failure + 1e-9), rps * rate))
            if weight:
                ok *= 1.0 - p ** (1.0 + extra) * weight
        # Slots are held by work and waiting, not by the processor's queue: else overload would show an idle cpu.
        u = rps / capacity
        if u < 1.0:
            busy = rps * (own + wait) / slot_capacity
            spent = own * (1.0 + u * u * u / (QUEUEING_LIMIT - u)) + wait
            a = 1.0
        else:
            a = 1.0 / u
            u = 1.0
            busy = rps * a * (own + wait) / slot_capacity
            spent = own * SATURATED + wait
        if busy > 1.0:
            a /= busy
            u /= busy
            busy = 1.0
        latency[i] = spent
        slots[i] = busy
        accepted[i] = a
        cpu[i] = u
        error[i] = e = 1.0 - ok * a
        caller_latency[i] = spent + link_delay
        caller_error[i] = 1.0 - (1.0 - e) * (1.0 - hidden) if hidden else e
    return Sweep(load, latency, error, accepted, cpu, slots, flow, failing_calls, caller_latency, caller_error)


def propagate_load(
    system: ServiceSystem,
    swept: Sweep,
    users: float,
    *,
    external_load: list[float],
    drop_rate: list[float],
    fan_out: list[float],
) -> tuple[list[float], float]:
    """Loads from the users down, and the requests per second that went astray."""
    load, accepted, dropped_load, passed, source = external_load[:], swept.accepted, 0.0, 0.0, -1
    load[0] = users
    for (i, j), rate in zip(system.links, swept.flow):  # noqa: B905  (strict costs a tenth of the sweep)
        if i != source:
            source, passed = i, load[i] - external_load[i]
            if drop_rate[i]:
                stray = passed * drop_rate[i]
                passed -= stray
                load[i] -= stray
                dropped_load += stray
            passed *= accepted[i] * fan_out[i]
        load[j] += passed * rate
    for i in system.leaves:
        if drop_rate[i]:
            stray = (load[i] - external_load[i]) * drop_rate[i]
            load[i] -= stray
            dropped_load += stray
    return load, dropped_load


def load_changed(before: list[float], after: list[float]) -> bool:
    """Whether any load changed noticeably from one minute to the next."""
    for old, new in zip(before, after):  # noqa: B905, SIM110  (`any` would cost twice as much)
        if abs(old - new) > STEADY_TOLERANCE * old:
            return True
    return False
