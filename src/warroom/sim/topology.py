"""A system of services sized to its load: who calls whom how often, and how much each can bear.

Sizing is analytic: loads flow down the call edges, latencies flow up, and capacities, connection pools and deadlines
are set to the steady state that follows, so that no minute has to be simulated to find the healthy operating point.
"""

from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from warroom.sim.blueprint import STORES, Blueprint

QUEUEING_LIMIT = 1.15
"""Latency grows as 1 + x^3 / (1.15 - x) with utilisation x: about x7.7 at saturation, never infinite."""
SLO_LATENCY = 2.0
"""The service-level objective on user latency, as a multiple of the healthy one."""


class Call(NamedTuple):
    """One edge of the call graph."""

    callee: int
    rate: float
    """Calls per request that the caller handles."""
    deadline: float
    """Milliseconds after which the caller gives up on one attempt."""
    retries: int
    """Further attempts after a failure, within the retry budget."""
    weight: float
    """Share of the caller's requests that fail when this call fails; 0 for optional calls."""


@dataclass(frozen=True, slots=True)
class System:
    """The immutable part of a world: shape, sizes and the healthy operating point of each service."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    calls: tuple[tuple[Call, ...], ...]
    """Outgoing calls of each service."""
    callers: tuple[tuple[int, ...], ...]
    replicas: tuple[int, ...]
    unit: tuple[float, ...]
    """Requests per second that one replica can work off."""
    base: tuple[float, ...]
    """Milliseconds of own work per request at no load."""
    pool: tuple[float, ...]
    """Request slots per replica, in request-milliseconds per second."""
    load: tuple[float, ...]
    """Healthy requests per second."""
    latency: tuple[float, ...]
    """Healthy mean latency in milliseconds, callees included."""
    cpu: tuple[float, ...]
    """Healthy utilisation, 0 to 1."""
    slots: tuple[float, ...]
    """Healthy share of busy request slots, 0 to 1."""
    memory: tuple[float, ...]
    """Healthy share of memory in use, 0 to 1."""
    disk: tuple[float, ...]
    """Healthy share of disk in use, 0 to 1."""
    reach: tuple[float, ...]
    """Share of user requests that critically depend on each service, 0 to 1."""
    size: int
    """Number of services."""
    upward: tuple[tuple[int, float, float, tuple[Call, ...]], ...]
    """(service, base, pool, calls), callees before callers: the order of the sweep for latency and errors."""
    rates: tuple[tuple[float, ...], ...]
    """Calls per request on each outgoing call, in the order of `calls`."""
    callees: tuple[tuple[int, ...], ...]
    """Services on the outgoing calls, in the order of `calls`."""

    @property
    def slo(self) -> float:
        """User latency in milliseconds above which the service level is broken."""
        return SLO_LATENCY * self.latency[0]

    def services(self, kinds: frozenset[str]) -> list[int]:
        """Indices of the services of some kinds, the gateway never among them."""
        return [i for i in range(1, self.size) if self.kinds[i] in kinds]


def draw_blueprint(rng: Random, size: int, names: list[str]) -> Blueprint:
    """A random call graph: a gateway, a tree of services, and two to four stores with at least a cache and a db.

    Caches come before the dbs that back them, so that every call points forward.
    """
    pick = names[:]
    rng.shuffle(pick)
    stores = 2 if size < 9 else 2 + int(rng.random() * 3)
    kinds = ["gateway"] + ["service"] * (size - stores - 1) + _store_kinds(rng, stores)
    labels = ["gateway"] + [
        name if kind == "service" else f"{name}-{kind}" for name, kind in zip(pick, kinds[1:], strict=False)
    ]
    return Blueprint(tuple(labels), tuple(kinds), tuple(sorted(_draw_calls(rng, kinds, size - stores))))


def _store_kinds(rng: Random, stores: int) -> list[str]:
    extra = [("cache", "queue", "db")[int(rng.random() * 3)] for _ in range(stores - 2)]
    return sorted(["cache", "db", *extra], key=("cache", "queue", "db").index)


def _draw_calls(rng: Random, kinds: list[str], services: int) -> set[tuple[int, int]]:
    """Service tree of depth at most four, every store under a leaf, caches backed by a db, and some cross calls.

    Where there are two dbs or more, the first stands behind the caches alone.
    """
    random, size = rng.random, len(kinds)
    calls, depth = set(), [0] * size
    for j in range(1, services):
        i = int(random() * min(j, 5))
        while depth[i] > 3:
            i = int(random() * j)
        depth[j] = depth[i] + 1
        calls.add((i, j))
    backing = kinds.index("db")
    hidden = backing if kinds.count("db") > 1 else size
    inner = {i for i, _ in calls}
    leaves = [i for i in range(1, services) if i not in inner]
    for j in range(services, size):
        if j != hidden:
            calls.add((leaves[(j - services) % len(leaves)], j))
        if kinds[j] == "cache":
            calls.add((j, backing))
    for _ in range(size // 2):
        i = 1 + int(random() * (services - 1))
        calls.add((i, i + 1 + int(random() * (size - i - 1))))
    served = {i for i, _ in calls}
    calls |= {(i, services + int(random() * (size - services))) for i in range(1, services) if i not in served}
    return {(i, kinds.index("cache") if j == hidden and kinds[i] != "cache" else j) for i, j in calls}


def size_system(rng: Random, blueprint: Blueprint) -> System:
    """Draw rates, work and utilisations for a call graph, and size everything else to the steady state that follows."""
    n, kinds = len(blueprint.names), blueprint.kinds
    wiring, callers = _draw_wiring(rng, blueprint)
    load = [0.0] * n
    load[0] = 200 + 1800 * rng.random()
    for i, out in enumerate(wiring):
        for j, rate, _, _ in out:
            load[j] += load[i] * rate
    replicas, cpu, base = _draw_machines(rng, kinds)
    latency, wait = [0.0] * n, [0.0] * n
    for i in range(n - 1, -1, -1):
        wait[i] = sum(rate * latency[j] for j, rate, _, _ in wiring[i])
        latency[i] = base[i] * (1 + cpu[i] ** 3 / (QUEUEING_LIMIT - cpu[i])) + wait[i]
    slots = [(0.2 if c > 0.2 else 0.05) * (1 + 0.6 * rng.random()) for c in cpu]
    calls = tuple(
        tuple(
            Call(j, rate, latency[j] * (2.5 + 1.5 * rng.random()), retries, weight) for j, rate, retries, weight in out
        )
        for out in wiring
    )
    # Little's law: requests in flight per replica, divided by the share of slots they should fill.
    pool = [load[i] * (base[i] + wait[i]) / (replicas[i] * slots[i]) for i in range(n)]
    return System(
        names=blueprint.names,
        kinds=kinds,
        calls=calls,
        callers=tuple(map(tuple, callers)),
        replicas=tuple(replicas),
        unit=tuple(load[i] / (replicas[i] * cpu[i]) for i in range(n)),
        base=tuple(base),
        pool=tuple(pool),
        load=tuple(load),
        latency=tuple(latency),
        cpu=tuple(cpu),
        slots=tuple(slots),
        memory=tuple((0.75 + 0.2 * rng.random()) if kind == "cache" else 0.3 + 0.35 * rng.random() for kind in kinds),
        disk=tuple(
            (0.45 + 0.3 * rng.random()) if kind in ("db", "queue") else 0.2 + 0.2 * rng.random() for kind in kinds
        ),
        reach=_reach(calls),
        size=n,
        upward=tuple((i, base[i], pool[i], calls[i]) for i in range(n - 1, -1, -1)),
        rates=tuple(tuple([call.rate for call in out]) for out in calls),
        callees=tuple(tuple([call.callee for call in out]) for out in calls),
    )


Wire = tuple[int, float, int, float]
"""(callee, calls per request, retries, weight)."""


def _draw_wiring(rng: Random, blueprint: Blueprint) -> tuple[list[list[Wire]], list[list[int]]]:
    """Rates and criticality. The first caller of a service needs it; further callers may do without."""
    random, kinds = rng.random, blueprint.kinds
    wiring: list[list[Wire]] = [[] for _ in kinds]
    callers: list[list[int]] = [[] for _ in kinds]
    for i, j in blueprint.calls:
        if kinds[i] == "cache":
            rate, weight = 0.12 + 0.1 * random(), 1.0
        elif not callers[j]:
            rate = 0.8 + 1.2 * random() if kinds[j] in STORES else 0.5 + 0.5 * random()
            weight = 1.0
        else:
            rate = 0.3 + 0.5 * random()
            weight = 1.0 if kinds[j] != "cache" and random() < 0.5 else 0.0
        wiring[i].append((j, rate, 1 + int(random() * 3), min(rate, 1.0) * weight))
        callers[j].append(i)
    return wiring, callers


def _draw_machines(rng: Random, kinds: tuple[str, ...]) -> tuple[list[int], list[float], list[float]]:
    """Replicas, target utilisation and own milliseconds. Four services in ten are generously provisioned."""
    random = rng.random
    replicas, cpu, base = [], [], []
    for kind in kinds:
        service = kind == "service"
        cpu.append(0.06 + 0.06 * random() if service and random() < 0.4 else 0.35 + 0.2 * random())
        replicas.append(1 + int(2 * random()) if kind == "db" else 3 + int(6 * random()))
        base.append(8 + 30 * random() if service else 4 + 12 * random())
    return replicas, cpu, base


def _reach(calls: tuple[tuple[Call, ...], ...]) -> tuple[float, ...]:
    reach = [1.0] + [0.0] * (len(calls) - 1)
    for i, out in enumerate(calls):
        for call in out:
            reach[call.callee] = max(reach[call.callee], reach[i] * call.weight)
    return tuple(reach)
