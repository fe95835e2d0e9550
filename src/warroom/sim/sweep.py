"""The physics of one minute: latency and errors from the callees up, then loads from the users down.

Loads of a minute follow from the failures of that minute, latency from the load of the minute before: the one-minute
lag makes retry feedback explicit, with no fixed point to iterate. A service whose load, parameters and callees are as
they were in the last sweep keeps its results, so a sweep costs what has changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from warroom.sim.topology import QUEUEING_LIMIT, Edge, System

SATURATED = 1.0 + 1.0 / (QUEUEING_LIMIT - 1.0)
"""Factor on own latency when the processor is full."""
STILL = 2e-3
"""Relative change of load from one minute to the next below which it counts as unmoved."""

Failing = tuple[int, int, float, float, float]
"""A call edge in trouble in some minute: (caller, callee, share of attempts that fail, share of those that are
timeouts, first attempts per second). A bare tuple: a world makes thousands."""
Part = tuple[int, float, float, float, float, float, float, float, tuple[Edge, ...]]
"""What a sweep must know of one service: (service, own milliseconds, share of replies that are right if all callees
are, share of lookups that fail, room, request slots, wire, share of replies that get lost or are wrong, its calls)."""


@dataclass(slots=True)
class Sweep:
    """What one sweep found, by service. Nobody writes to its lists: snapshots and the next sweep share them."""

    load: list[float]
    """Requests per second that the sweep started from."""
    latency: list[float]
    error: list[float]
    accepted: list[float]
    cpu: list[float]
    slots: list[float]
    flow: list[float]
    """Attempts per accepted request on each of the system's `wires`."""
    trouble: list[Sequence[Failing]]
    """Outgoing calls that fail."""
    seen_latency: list[float]
    """As callers see it: with the wire."""
    seen_error: list[float]
    """As callers see it: with lost and wrong replies."""


def before_any(system: System) -> Sweep:
    """A healthy world before its first sweep; no load equals its loads, so that sweep works every service out."""
    nowhere, zero, latency = [-1.0] * system.size, [0.0] * system.size, list(system.latency)
    return Sweep(nowhere, latency, zero, zero, zero, zero, list(system.rates), [()] * system.size, latency, zero)


def rise(
    system: System, parts: list[Part], budget: list[float], load: list[float], last: Sweep, stale: set[int]
) -> Sweep:
    """Callees first. `stale` holds the services whose parameters have changed since `last`; it is used up."""
    before, latency, error, accepted = last.load, last.latency[:], last.error[:], last.accepted[:]
    cpu, slots, flow, trouble = last.cpu[:], last.slots[:], last.flow[:], last.trouble[:]
    seen_latency, seen_error = last.seen_latency[:], last.seen_error[:]
    callers = system.callers
    failing: list[Failing]
    for i, own, ok, blind, room, seats, wire, hidden, calls in reversed(parts):
        rps = load[i]
        if rps == before[i] and i not in stale:
            continue
        stale.update(callers[i])
        wait = 0.0
        trouble[i] = ()
        for j, rate, deadline, retries, weight, place in calls:
            lj = seen_latency[j]
            ej = seen_error[j]
            z = lj / deadline
            if z < 0.6 and ej < 1e-3 and not blind:
                wait += rate * lj
                flow[place] = rate
                continue
            z *= z
            z *= z
            z *= z
            late = z / (1.0 + z)
            p = 1.0 - (1.0 - ej) * (1.0 - late) * (1.0 - blind)
            cap = budget[j]
            extra = p * (retries if cap < 1.0 else 3.0)
            if extra > cap:
                extra = cap
            wait += rate * (lj if lj < deadline else deadline) * (1.0 + extra)
            flow[place] = rate * (1.0 + extra) * (1.0 - blind)
            if not trouble[i]:
                trouble[i] = failing = []
            failing.append((i, j, p, late / (late + ej + blind + 1e-9), rps * rate))
            if weight:
                ok *= 1.0 - p ** (1.0 + extra) * weight
        # Slots are held by work and waiting, not by the processor's queue: else overload would show an idle cpu.
        u = rps / room
        if u < 1.0:
            busy = rps * (own + wait) / seats
            spent = own * (1.0 + u * u * u / (QUEUEING_LIMIT - u)) + wait
            a = 1.0
        else:
            a = 1.0 / u
            u = 1.0
            busy = rps * a * (own + wait) / seats
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
        seen_latency[i] = spent + wire
        seen_error[i] = 1.0 - (1.0 - e) * (1.0 - hidden) if hidden else e
    return Sweep(load, latency, error, accepted, cpu, slots, flow, trouble, seen_latency, seen_error)


def fall(
    system: System, swept: Sweep, users: float, outside: list[float], lost: list[float], fan_out: list[float]
) -> tuple[list[float], float]:
    """Loads from the users down, and the requests per second that went astray."""
    load, accepted, astray, passed, source = outside[:], swept.accepted, 0.0, 0.0, -1
    load[0] = users
    for (i, j), rate in zip(system.wires, swept.flow):  # noqa: B905  (strict costs a tenth of the sweep)
        if i != source:
            source, passed = i, load[i] - outside[i]
            if lost[i]:
                stray = passed * lost[i]
                passed -= stray
                load[i] -= stray
                astray += stray
            passed *= accepted[i] * fan_out[i]
        load[j] += passed * rate
    for i in system.leaves:
        if lost[i]:
            stray = (load[i] - outside[i]) * lost[i]
            load[i] -= stray
            astray += stray
    return load, astray


def moves(before: list[float], after: list[float]) -> bool:
    """Whether any load changed noticeably from one minute to the next."""
    for old, new in zip(before, after):  # noqa: B905, SIM110  (`any` would cost twice as much)
        if abs(old - new) > STILL * old:
            return True
    return False
