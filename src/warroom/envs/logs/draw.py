"""Drawing an incident: first what decides whether it is fair, then, once it is, how services write about it."""

from collections.abc import Callable
from dataclasses import replace
from hashlib import shake_128
from random import Random
from typing import NamedTuple

from warroom.core.errors import IncompatibleTopology
from warroom.core.rng import hash_bytes, stream
from warroom.core.splits import Split
from warroom.envs.logs.incident import (
    KNOT,
    OTHER_OWNER,
    OWNERS,
    TIER_CONFIGS,
    Chronic,
    Drift,
    LogsIncident,
    LogsTierConfig,
    NoisyService,
    StartRecord,
)
from warroom.envs.logs.normal import QUANTILES
from warroom.envs.logs.scenario import OutageScenario
from warroom.envs.logs.views import SEVERITIES
from warroom.sim import incident as world_incident
from warroom.sim.incident import HISTORY
from warroom.sim.mechanism import INTERNAL, Fault, Mechanism
from warroom.sim.outages import FRONT
from warroom.sim.service_topology import ServiceTopology
from warroom.sim.topology import ServiceSystem, draw_service_topology, size_system
from warroom.sim.wordings import SERVICES, pool

DOCUMENT = ServiceTopology(
    names=(
        "api-gateway", "auth-service", "payment-service", "notification-service", "user-db", "payment-db",
        "email-queue",
    ),
    kinds=("gateway", "service", "service", "service", "db", "db", "queue"),
    calls=((0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 6)),
)  # fmt: skip
"""The default system: users log in, pay and are notified, each by a service with a store of its own."""

TopologyFactory = Callable[[Random, list[str]], ServiceTopology]
"""Gives the call graph of an incident, from its generator and the names that it may use."""


def default_topology(rng: Random, names: list[str]) -> ServiceTopology:
    """Always the default system."""
    return DOCUMENT


def random_topology(low: int, high: int) -> TopologyFactory:
    """Systems of `low` to `high` services."""

    def topology_factory(rng: Random, names: list[str]) -> ServiceTopology:
        size = low + int(rng.random() * (high - low + 1))
        more = [f"{name}-{part}" for part in ("api", "worker") for name in names] if size > len(names) else []
        return draw_service_topology(rng, size, [*names, *more])

    return topology_factory


class Draft(NamedTuple):
    """What decides whether an incident is fair, but for how bad it is."""

    scenario: OutageScenario
    tier: str
    base: world_incident.Incident
    """What the world is built from, with faults of middling severity."""
    sampling_rate: float
    """Share of lines that the log pipeline keeps."""
    provider_recovery_minute: int
    """Minute in which a provider outside comes back."""
    wanted: str
    """How bad it should be for users: P1 to P3, all three as often."""

    @property
    def tier_config(self) -> LogsTierConfig:
        """The dial of its tier."""
        return TIER_CONFIGS[self.tier]

    def with_severity(self, share: float) -> "Draft":
        """The same with all faults at a share (0 to 1) of their worst."""
        drift_severity = self.tier_config.drift_severity
        faults = tuple(
            [
                replace(fault, severity=share * (drift_severity if fault.mechanism.gradual else 1.0))
                for fault in self.base.faults
            ]
        )
        return self._replace(base=replace(self.base, faults=faults))


def draw_draft(
    scenario: OutageScenario,
    tier: str,
    seed: int,
    attempt: int,
    *,
    topology_factory: TopologyFactory,
    wording: Split,
    names: Split,
) -> Draft:
    """Draw system, roots and causes. `attempt` counts redraws of those that failed their certificate."""
    tier_config = TIER_CONFIGS[tier]
    rng = stream(seed, "triage", scenario.name, tier, attempt)
    system, faults = _draw_system(rng, scenario, topology_factory, SERVICES[pool(names)])
    horizon = HISTORY + scenario.budget + 3
    key = hash_bytes(16, seed, "lines", scenario.name, tier, attempt)
    base = world_incident.Incident(key, pool(wording), system, faults, world_incident.draw_traffic(rng, horizon))
    sampling_rate = tier_config.sampled_requests * (0.7 + 0.6 * rng.random()) / (60 * system.load[0])
    return Draft(scenario, tier, base, sampling_rate, 3 + int(3 * rng.random()), SEVERITIES[int(3 * rng.random())])


ATTEMPTS = 60


def _draw_system(
    rng: Random, scenario: OutageScenario, topology_factory: TopologyFactory, names: list[str]
) -> tuple[ServiceSystem, tuple[Fault, ...]]:
    for _ in range(ATTEMPTS):
        system = size_system(rng, topology_factory(rng, names))
        faults = _draw_faults(rng, scenario, system)
        if faults is not None:
            return system, faults
    wanted = ", ".join(m.name for m in (*scenario.causes, *scenario.second))
    raise IncompatibleTopology(
        f"no service of this topology can carry {scenario.name!r} ({wanted}); it has kinds "
        f"{', '.join(sorted(set(system.kinds)))}; choose another scenario or topology"
    )


def _draw_faults(rng: Random, scenario: OutageScenario, system: ServiceSystem) -> tuple[Fault, ...] | None:
    """The roots, apart from one another; None where the system has no place for them."""
    faults: list[Fault] = []
    for causes in (scenario.causes, scenario.second):
        if not causes:
            continue
        places = [(m, i) for m in causes for i in candidate_targets(system, m) if _apart(system, i, faults)]
        if not places:
            return None
        # First the service, then the mechanism: else services that many mechanisms fit would be roots more often.
        target = rng.choice(sorted({i for _, i in places}))
        mechanism = rng.choice([m for m, i in places if i == target])
        low, high = scenario.onset
        faults.append(Fault(mechanism, target, low + int(rng.random() * (high - low + 1)), 0.5))
    return tuple(faults)


def candidate_targets(system: ServiceSystem, mechanism: Mechanism) -> list[int]:
    """Services that can carry a mechanism; the gateway is one where its kind fits."""
    front = [0] if mechanism.kinds >= FRONT and not mechanism.gradual else []
    return [i for i in (*front, *system.services(mechanism.kinds)) if mechanism.fits(system, i)]


def _apart(system: ServiceSystem, i: int, faults: list[Fault]) -> bool:
    """Whether two roots are no gateway and have no caller in common but it, so that each is a cause of its own."""
    if not faults:
        return True
    first = faults[0].target
    return bool(i and first) and not ({i} | transitive_callers(system, i)) & (
        {first} | transitive_callers(system, first)
    ) - {0}


def transitive_callers(system: ServiceSystem, i: int) -> set[int]:
    """Every service that depends on service `i`, directly or not."""
    found, todo = set(), [i]
    while todo:
        new = [c for c in system.callers[todo.pop()] if c not in found]
        found.update(new)
        todo += new
    return found


def draw_incident(draft: Draft, seed: int, attempt: int) -> LogsIncident:
    """The whole incident: how each service writes, and everything about nothing."""
    scenario, tier, base, tier_config, system = (
        draft.scenario,
        draft.tier,
        draft.base,
        draft.tier_config,
        draft.base.system,
    )
    rng = stream(seed, "writers", scenario.name, tier, attempt)
    random = rng.random
    n, roots = system.size, [fault.target for fault in base.faults]
    reporting = {caller for root in roots for caller in system.callers[root]}
    if tier != "hard" or any(fault.mechanism.origin != INTERNAL for fault in base.faults):
        reporting.update(roots)  # only on hard may a root be unheard; its callers never are
    not_reporting = [i for i in range(1, n) if i not in reporting]
    innocent = _innocent(system, roots)
    begun = min((fault.onset for fault in base.faults), default=-3)
    return LogsIncident(
        key=base.key,
        scenario=scenario,
        tier=tier,
        tier_config=tier_config,
        wording=base.wording,
        base=base,
        owners=_draw_owners(rng, system),
        sampling_rate=draft.sampling_rate,
        failure_log_levels=tuple([_FAILURE_LOG_LEVELS[int(20 * random())] for _ in range(n)]),
        # Slow drifts show in nothing else, so there the root's durations are logged.
        timed=tuple(
            [
                random() < 0.6 or kind != "db" or (bool(scenario.min_noise) and i in roots)
                for i, kind in enumerate(system.kinds)
            ]
        ),
        missing=frozenset([i for i in not_reporting if random() < tier_config.missing]),
        behind=frozenset([i for i in not_reporting if random() < tier_config.behind]),
        clock_skew=tuple(
            [
                int((2 * random() - 1) * tier_config.clock_skew) if tier_config.clock_skew and random() < 0.3 else 0
                for _ in range(n)
            ]
        ),
        reports_own_errors=random() < tier_config.reports_own_errors,
        chronic=tuple(
            [
                Chronic(int(n * random()), (0.001 + 0.007 * random()) / (1 + tier_config.decoys), int(64 * random()))
                for _ in range(1 + tier_config.decoys)
            ]
        ),
        nuisance=tuple([0.01 + 0.06 * random() for _ in range(n)]),
        drifting={
            rng.choice(innocent): Drift(-9 + int(8 * random()), 1.6 + 2.2 * random()) for _ in range(tier_config.decoys)
        },
        decoys=tuple(
            [
                (_DECOY_CLASSES[int(len(_DECOY_CLASSES) * random())], rng.choice(innocent))
                for _ in range(tier_config.decoys)
            ]
        ),
        started=_draw_started(rng, base, tier_config.decoys),
        noisy_service=_draw_noisy_service(rng, system, roots, begun) if scenario.noisy_service else None,
        provider_recovery_minute=draft.provider_recovery_minute,
        latency_jitter_knots=_draw_latency_jitter(
            base.key, n, tier_config.latency_jitter, (HISTORY + scenario.budget + 4) // KNOT + 2
        ),
    )


_FAILURE_LOG_LEVELS = ("ERROR",) * 8 + ("WARN",) * 7 + ("",) * 5
_DECOY_CLASSES = (
    "crash", "release", "lock", "saturation", "plan_cache", "report", "leak", "backlog", "slow_release", "vendor",
    "abuse",
)  # fmt: skip
"""Classes of words that decoys use: all of them, so that none is proof."""


def _innocent(system: ServiceSystem, roots: list[int]) -> list[int]:
    """Services that are no root; the gateway is among them only where every other service is a root."""
    return [i for i in range(1, system.size) if i not in roots] or [0]


def _draw_owners(rng: Random, system: ServiceSystem) -> tuple[str, ...]:
    teams = ("sre", "backend", "dba")
    return tuple([
        teams[int(3 * rng.random())] if rng.random() < OTHER_OWNER else OWNERS[kind] for kind in system.kinds
    ])  # fmt: skip


def _draw_started(rng: Random, base: world_incident.Incident, count: int) -> tuple[StartRecord, ...]:
    """Ordinary builds and jobs, and those that began the trouble."""
    random, system = rng.random, base.system
    stores = system.services(frozenset({"db"}))
    servers = [i for i, kind in enumerate(system.kinds) if kind in FRONT]
    struck = {(fault.target, minute) for fault in base.faults for minute in range(fault.onset - 3, fault.onset + 4)}
    out: list[StartRecord] = []
    for _ in range(1 + count):
        for what, places in (("build", servers), ("job", stores)):
            minute = -HISTORY + int((HISTORY - 1) * random())
            if places and ((i := rng.choice(places)), minute) not in struck:
                out.append(StartRecord(minute, i, what, 100 + int(900 * random())))
    for fault in base.faults:
        begun = fault.mechanism.started_by
        if begun:
            out.append(StartRecord(fault.onset, fault.target, begun, 100 + int(900 * random())))
    return tuple(sorted(out))


def _draw_noisy_service(rng: Random, system: ServiceSystem, roots: list[int], begun: int) -> NoisyService:
    """An innocent service apart from the roots, at which clients send nonsense."""
    near = set(roots).union(*(transitive_callers(system, root) for root in roots)) if roots else set()
    apart = [i for i in range(1, system.size) if i not in near] or _innocent(system, roots)
    return NoisyService(rng.choice(apart), begun, 0.008 + 0.012 * rng.random())


def _draw_latency_jitter(key: bytes, services: int, spread: float, knots: int) -> tuple[tuple[float, ...], ...]:
    drawn = iter(shake_128(key + b"wander").digest(services * knots))
    # What users see is a mix of many operations, which wander each by themselves.
    return tuple([
        tuple([(spread if i else spread / 3) * QUANTILES[next(drawn)] for _ in range(knots)]) for i in range(services)
    ])  # fmt: skip
