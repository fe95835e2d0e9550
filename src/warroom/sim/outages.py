"""What breaks a service as its logs tell it: crashes, stalls, slow drifts, providers that fail and abuse from outside.

Beside the failures of `faults`, whose gauges give them away, these are graded from mild to total, so that the harm to
users is a matter of degree, and are undone by the remedies of a triage: a killed query, a flushed cache.
"""

from warroom.sim.mechanism import ABUSER, DB, PROVIDER, SERVICE, Fault, Mechanism, no_effect
from warroom.sim.topology import ServiceSystem
from warroom.sim.world import World

ANY = frozenset({"gateway", "service", "db", "cache", "queue"})
FRONT = frozenset({"gateway", "service"})
BUSY = 0.3
"""Utilisation of the processor from which a service can be swamped by a plausible surge."""
FULL_DRIFT = 8
"""Minutes in which a slow drift reaches its nominal size; it goes on to `MOST_DRIFT` times that."""
MOST_DRIFT = 1.6
REPLICA_FACTOR = 2.0
"""Times the usual replicas that a swamped service needs."""


def reset_service(world: World, fault: Fault) -> None:
    """Everything that an outage can change, back to normal."""
    i = fault.target
    world.own_error[i], world.slowdown[i], world.external_load[i] = 0.0, 1.0, 0.0


def failing_share(fault: Fault) -> float:
    """Share of the requests that a crash or a faulty release fails."""
    return 0.03 * float(27**fault.severity)


def _fail(world: World, fault: Fault) -> None:
    world.own_error[fault.target] = failing_share(fault)


CRASH = Mechanism(
    "crash", ANY, "restart", "crash", _fail, reset_service, failing_share=failing_share, mutes_victim=True
)
"""Workers die and come back: 3 to 81 % of the requests fail at once."""

RELEASE = Mechanism(
    "faulty_release",
    FRONT,
    "rollback",
    "release",
    _fail,
    reset_service,
    failing_share=failing_share,
    started_by="build",
)
"""A new build fails 3 to 81 % of the requests."""


def _pile_up(world: World, fault: Fault, age: int) -> None:
    world.slowdown[fault.target] = min(1.8 ** (age + 1), 1.6 + 6 * fault.severity)


LOCK_PILE = Mechanism("lock_pile", DB, "kill-query", "lock", no_effect, reset_service, _pile_up)
"""Transactions wait for one that does not end: 1.6 to 7.6 times the usual time."""


def _swamp(world: World, fault: Fault) -> None:
    i, system = fault.target, world.system
    world.external_load[i] = system.load[i] * ((0.75 + 0.35 * fault.severity) / system.cpu[i] - 1)


def _has_capacity(world: World, fault: Fault) -> bool:
    return world.replicas[fault.target] >= REPLICA_FACTOR * world.system.replicas[fault.target]


def _can_swamp(system: ServiceSystem, service: int) -> bool:
    return system.cpu[service] > BUSY


SATURATION = Mechanism(
    "saturation", frozenset({"service", "db", "cache", "queue"}), "scale", "saturation", _swamp, no_effect,
    is_sufficient=_has_capacity, fits=_can_swamp, replica_factor=3.0,
)  # fmt: skip
"""Clients outside the call graph bring it to 0.75 to 1.1 times what it can bear."""


def _creep(world: World, fault: Fault, age: int) -> None:
    size = 1.2 + 2.4 * fault.severity
    world.slowdown[fault.target] = 1 + size * min(MOST_DRIFT, (age + 1) / FULL_DRIFT)


PLAN_CACHE = Mechanism(
    "plan_cache",
    frozenset({"db", "cache"}),
    "flush-cache",
    "plan_cache",
    no_effect,
    reset_service,
    _creep,
    gradual=True,
)
"""A cache fills with what is no longer asked for, or plans go stale: each request takes longer every minute."""

REPORT = Mechanism(
    "report", DB, "kill-query", "report", no_effect, reset_service, _creep, gradual=True, started_by="job"
)
"""A long analytic query that a job started slows all others."""

HEAP_LEAK = Mechanism("heap_leak", FRONT, "restart", "leak", no_effect, reset_service, _creep, gradual=True)
"""Collections take an ever larger share of the time."""

BACKLOG = Mechanism("backlog", frozenset({"queue"}), "scale", "backlog", no_effect, reset_service, _creep,
                    is_sufficient=_has_capacity, gradual=True, replica_factor=3.0)  # fmt: skip
"""Consumers fall behind their producers."""

CREEPING_RELEASE = Mechanism(
    "creeping_release",
    SERVICE,
    "rollback",
    "slow_release",
    no_effect,
    reset_service,
    _creep,
    gradual=True,
    started_by="build",
)
"""A new build gets slower with all that it remembers."""


def _outside_fails(world: World, fault: Fault) -> None:
    world.own_error[fault.target] = 0.02 * 30**fault.severity
    world.slowdown[fault.target] = 1.4


VENDOR = Mechanism("vendor", SERVICE, "", "vendor", _outside_fails, reset_service, origin=PROVIDER)
"""A provider outside the system fails 2 to 60 % of what a service asks of it; only the provider can end it."""


def _attack(world: World, fault: Fault) -> None:
    i, system = fault.target, world.system
    capacity = max(0.2, 0.95 / system.cpu[i] - 1)
    world.external_load[i] = system.load[i] * min(capacity, 0.8 + 1.2 * fault.severity)
    world.own_error[i] = 0.01 * 40**fault.severity
    world.slowdown[i] = 1.2


def _exposed(system: ServiceSystem, service: int) -> bool:
    return 0 in system.callers[service]


ABUSE = Mechanism("abuse", SERVICE, "", "abuse", _attack, reset_service, fits=_exposed, origin=ABUSER)
"""Stolen credentials are tried, or a leaked token is used, at a service that users reach; only security can stop it."""
