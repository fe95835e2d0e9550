"""What can break: each mechanism changes parameters of the world, and the physics makes the symptoms.

Several mechanisms share symptoms on purpose. What tells them apart is the combination of evidence: which gauge *moved*,
which calls fail and how fast, and who changed the service in the very minute the trouble began.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warroom.sim.mechanism import DB, RAMP_MINUTES, SERVICE, Fault, Mechanism, no_effect
from warroom.sim.service_topology import STORES

if TYPE_CHECKING:
    from warroom.sim.topology import ServiceSystem
    from warroom.sim.world import World

# -- the reply is wrong: errors at the service or, when it is silent, only at its callers ------------------


def _break_replies(world: World, fault: Fault) -> None:
    share = 0.35 + 0.3 * fault.severity
    if fault.secondary:
        share = 0.14 + 0.1 * fault.severity
    (world.silent_error if fault.silent else world.own_error)[fault.target] = share


def _fix_replies(world: World, fault: Fault) -> None:
    world.own_error[fault.target] = world.silent_error[fault.target] = 0.0


BAD_RELEASE = Mechanism("bad_release", SERVICE, "rollback", "handler", _break_replies, _fix_replies, can_be_silent=True)
"""A changed build or configuration fails a share of the requests; nothing else moves."""

QUOTA = Mechanism("quota", SERVICE, "rollback", "quota", _break_replies, _fix_replies)
"""A limit far below the traffic refuses a share of the requests."""


# -- the reply is late --------------------------------------------------------------------------------


def _lock(world: World, fault: Fault, age: int) -> None:
    i = fault.target
    world.slowdown[i] = min(world.slowdown[i] * 2.2, 14 + 10 * fault.severity)
    world.own_error[i] = min(0.25, world.own_error[i] + 0.08)


def _unlock(world: World, fault: Fault) -> None:
    world.slowdown[fault.target], world.own_error[fault.target] = 1.0, 0.0


LOCK_WAIT = Mechanism("lock_wait", DB, "restart", "lock", no_effect, _unlock, _lock, gauge="slots")
"""Transactions wait for one another: latency explodes, slots fill, the processor idles."""


def _leak(world: World, fault: Fault, age: int) -> None:
    i, healthy = fault.target, world.system.memory[fault.target]
    world.memory[i] = level = min(0.99, world.memory[i] + (0.985 - healthy) / RAMP_MINUTES)
    world.slowdown[i] = 1 + max(0.0, level - 0.8) * (25 + 15 * fault.severity)
    world.own_error[i] = max(0.0, level - 0.9) * (2.5 + 2 * fault.severity)


def _unleak(world: World, fault: Fault) -> None:
    _unlock(world, fault)
    world.memory[fault.target] = world.system.memory[fault.target]


def _has_free_memory(system: ServiceSystem, service: int) -> bool:
    return system.memory[service] < 0.7


MEMORY_LEAK = Mechanism(
    "memory_leak", SERVICE, "restart", "heap", no_effect, _unleak, _leak,
    fits=_has_free_memory, gradual=True, gauge="memory",
)  # fmt: skip
"""Memory climbs until collection eats the time and requests fail."""


def _delay(world: World, fault: Fault) -> None:
    worst = max((call.deadline for c in world.system.callers[fault.target] for call in world.system.calls[c]
                 if call.callee == fault.target), default=100.0)  # fmt: skip
    world.link_delay[fault.target] = worst * (0.95 + 0.3 * fault.severity)


def _undelay(world: World, fault: Fault) -> None:
    world.link_delay[fault.target] = 0.0


NETWORK_DELAY = Mechanism("network_delay", SERVICE | DB, "escalate", "wire", _delay, _undelay)
"""The link to the service is slow: callers time out while the service itself reports good latency."""


# -- the call never arrives ---------------------------------------------------------------------------


def _misroute(world: World, fault: Fault) -> None:
    world.drop_rate[fault.target] = 0.55 + 0.3 * fault.severity


def _restore_calls(world: World, fault: Fault) -> None:
    world.drop_rate[fault.target] = 0.0


MISROUTE = Mechanism("misroute", SERVICE, "escalate", "foreign", _misroute, _restore_calls, misroutes=True)
"""A share of the calls lands at another service, which refuses them."""

CERTIFICATE_EXPIRED = Mechanism("certificate_expired", SERVICE | DB, "escalate", "trust", _misroute, _restore_calls)
"""Callers refuse the service's certificate; it idles in good health."""

CERTIFICATE_MISISSUED = Mechanism("certificate_misissued", SERVICE | DB, "rollback", "trust", _misroute, _restore_calls)
"""A new certificate that callers refuse; the previous one still works."""


def _break_lookups(world: World, fault: Fault) -> None:
    world.lookup_failure[fault.target] = 0.55 + 0.35 * fault.severity


def _fix_lookups(world: World, fault: Fault) -> None:
    world.lookup_failure[fault.target] = 0.0


def _calls_several(system: ServiceSystem, service: int) -> bool:
    return len(system.calls[service]) > 1


DNS = Mechanism("dns", SERVICE, "restart", "lookup", _break_lookups, _fix_lookups, fits=_calls_several)
"""The client's resolver is stale: its outgoing calls fail at once, and its callees idle."""


# -- too little room ----------------------------------------------------------------------------------


def _cut_replicas(world: World, fault: Fault) -> None:
    i = fault.target
    healthy = world.system.replicas[i]
    world.set_replicas(i, max(1, int(healthy * world.system.cpu[i] / (1.15 + 0.35 * fault.severity))))


def _most_replicas_back(world: World, fault: Fault) -> bool:
    return world.replicas[fault.target] >= 0.75 * world.system.replicas[fault.target]


def _can_be_cut(system: ServiceSystem, service: int) -> bool:
    return system.cpu[service] > 0.3 and system.replicas[service] > 2


REPLICA_CUT = Mechanism(
    "replica_cut", SERVICE, "scale", "overload", _cut_replicas, no_effect,
    is_sufficient=_most_replicas_back, fits=_can_be_cut, gauge="cpu",
)  # fmt: skip
"""Replicas far below what the load needs: the processor is full, requests queue and are shed."""


def _set_work(world: World, fault: Fault, factor: float) -> None:
    world.work[fault.target] = factor
    world.resize(fault.target)


def _more_work(world: World, fault: Fault) -> None:
    slack = 1.25 + 0.5 * fault.severity
    _set_work(world, fault, slack / world.system.cpu[fault.target] * (0.9 if fault.secondary else 1.0))


def _less_work(world: World, fault: Fault) -> None:
    _set_work(world, fault, 1.0)


def _busy(system: ServiceSystem, service: int) -> bool:
    return system.cpu[service] > 0.3


SLOW_RELEASE = Mechanism(
    "slow_release", SERVICE, "rollback", "overload", _more_work, _less_work, fits=_busy, gauge="cpu"
)
"""A change makes each request cost several times the work: full processor at ordinary traffic and replicas."""

NOISY_NEIGHBOUR = Mechanism(
    "noisy_neighbour", SERVICE, "restart", "overload", _more_work, _less_work, fits=_busy, gauge="cpu"
)
"""Another tenant takes the processor: the same symptoms with no change behind them; a restart moves the replicas."""

HEAVY_BACKUP = Mechanism("heavy_backup", DB, "restart", "overload", _more_work, _less_work, fits=_busy, gauge="cpu")
"""A full dump on the primary takes the processor; a restart ends it."""


def _flood(world: World, fault: Fault) -> None:
    i, system = fault.target, world.system
    world.external_load[i] = system.load[i] * ((1.3 + 0.5 * fault.severity) / system.cpu[i] - 1)


def _replicas_doubled(world: World, fault: Fault) -> bool:
    return world.replicas[fault.target] >= 2 * world.system.replicas[fault.target]


TRAFFIC_SURGE = Mechanism(
    "traffic_surge", SERVICE, "scale", "overload", _flood, no_effect,
    is_sufficient=_replicas_doubled, fits=_busy, gauge="cpu", replica_factor=2.6,
)  # fmt: skip
"""Clients outside the call graph send far more than usual, for answers that need no callee; only replicas help."""


def _drain_pool(world: World, fault: Fault, age: int) -> None:
    i = fault.target
    floor = world.system.slots[i] / (1.6 + 0.8 * fault.severity)
    world.slots_left[i] = max(floor, world.slots_left[i] - (1 - floor) / 3)


def _refill_pool(world: World, fault: Fault) -> None:
    world.slots_left[fault.target] = 1.0


def _uses_slots(system: ServiceSystem, service: int) -> bool:
    return system.slots[service] > 0.15


CONNECTION_LEAK = Mechanism(
    "connection_leak", SERVICE, "restart", "pool", no_effect, _refill_pool, _drain_pool,
    fits=_uses_slots, gauge="slots",
)  # fmt: skip
"""Connections are not returned: all slots are taken while processor and memory are idle."""


def _fill(world: World, fault: Fault, age: int) -> None:
    i = fault.target
    world.disk[i] = level = min(1.0, world.disk[i] + (1.0 - world.system.disk[i]) / 4.5)
    world.own_error[i] = 0.3 + 0.3 * fault.severity if level > 0.97 else 0.0


def _unfill(world: World, fault: Fault) -> None:
    world.own_error[fault.target] = 0.0
    world.disk[fault.target] = min(world.disk[fault.target], 0.7)


DISK_FULL = Mechanism(
    "disk_full", frozenset({"db", "queue"}), "scale", "space", no_effect, _unfill, _fill,
    is_sufficient=_replicas_doubled, gradual=True, gauge="disk", replica_factor=2.0,
)  # fmt: skip
"""Writes fail once the volume is full; more replicas bring more volume."""


# -- too many calls -----------------------------------------------------------------------------------

RETRY_BUDGET = 0.1
"""Extra attempts per call that clients allow themselves. At 0.3 per edge a chain of four amplifies 2.2 times and
every fault becomes metastable."""
STORM_BUDGET = 3.0


def _storm(world: World, fault: Fault) -> None:
    world.retry_budget[fault.target] = STORM_BUDGET
    world.slowdown[fault.target] = 8.0


def _storm_step(world: World, fault: Fault, age: int) -> None:
    i, system = fault.target, world.system
    if age == 2:
        world.slowdown[i] = 1.0
    if age > 4 and world.load[i] < 1.3 * system.load[i] and world.latency[i] < 2.5 * system.latency[i]:
        world.clear_fault(fault)


def _end_storm(world: World, fault: Fault) -> None:
    world.retry_budget[fault.target] = RETRY_BUDGET
    world.slowdown[fault.target] = 1.0


def _never(world: World, fault: Fault) -> bool:
    return False


RETRY_STORM = Mechanism(
    "retry_storm", STORES, "scale", "overload", _storm, _end_storm, _storm_step,
    is_sufficient=_never, can_subside=True, replica_factor=3.0, extra_replicas=2,
)  # fmt: skip
"""A short stall sets off retries that keep the store overloaded after the stall is gone: metastable.
Scaling does not end it by decree: it ends when the added room lets the load fall back."""


def _misses(system: ServiceSystem, cache: int, overload: float) -> float:
    """Factor on a cache's misses that loads the store behind it to `overload` times its room."""
    call = system.calls[cache][0]
    share = system.load[cache] * call.rate / system.load[call.callee]
    return 1 + (overload / system.cpu[call.callee] - 1) / share


def _expire_keys(world: World, fault: Fault) -> None:
    world.fan_out[fault.target] = _misses(world.system, fault.target, 1.2 + 0.4 * fault.severity)


def _keep_keys(world: World, fault: Fault) -> None:
    world.fan_out[fault.target] = 1.0


def _swamps_store(system: ServiceSystem, service: int) -> bool:
    """The cache carries so much that its misses can swamp the store behind it."""
    calls = system.calls[service]
    return bool(calls) and _misses(system, service, 1.6) * calls[0].rate <= 1.0


CACHE_FLUSH = Mechanism(
    "cache_flush", frozenset({"cache"}), "rollback", "miss", _expire_keys, _keep_keys, fits=_swamps_store
)
"""Keys expire early: the cache reads through, and the store behind it drowns."""


def _blip(world: World, fault: Fault) -> None:
    world.slowdown[fault.target] = 25.0


def _blip_step(world: World, fault: Fault, age: int) -> None:
    if age >= 2:
        world.clear_fault(fault)


def _many_depend_on_it(system: ServiceSystem, service: int) -> bool:
    return system.reach[service] > 0.4


BLIP = Mechanism(
    "blip", SERVICE | STORES, "", "overload", _blip, _end_storm, _blip_step,
    fits=_many_depend_on_it, transient=True,
)  # fmt: skip
"""A hiccup that is over before anyone can act: the page was a false alarm."""
