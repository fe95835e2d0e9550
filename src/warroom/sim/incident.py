"""One incident, drawn whole before its first minute and immutable afterwards; worlds are built from it."""

from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import NamedTuple

from warroom.core.checks import check_choice, check_type
from warroom.core.errors import IncompatibleTopology
from warroom.core.rng import hash_bytes, stream
from warroom.core.scenario import by_tier
from warroom.core.splits import Split
from warroom.sim.automation import AGENTS, KINDS, VERBS, ActivityLevel, PlannedAction, Planner, draw_roster
from warroom.sim.faults import MEMORY_LEAK
from warroom.sim.mechanism import GAUGES, NEVER, Fault, Mechanism
from warroom.sim.service_topology import ServiceTopology
from warroom.sim.topology import ServiceSystem, draw_service_topology, size_system
from warroom.sim.wordings import CLASSES, PEOPLE, SERVICES, pool

HISTORY = 10
"""Minutes of history before the page at minute 0. One minute is one turn."""


@dataclass(frozen=True, slots=True)
class TierConfig:
    """The one dial of difficulty."""

    budget: int
    """Turns."""
    sizes: tuple[int, int]
    """Services, least and most."""
    noise: float
    """Relative standard deviation of traffic, latency and error readings; gauges have a quarter of it."""
    gap: float
    """Probability that a service's readings are missing in a minute."""
    activity: ActivityLevel
    alternate_agent: float
    """Probability that the rogue is the second holder of its verb."""
    silent_fault: float
    """Probability that wrong replies show up at callers only."""
    hot: int
    """Gauges that are always full and mean nothing."""
    decoys: int
    """Services that write signatures of faults they do not have."""
    signature_rate: float
    """Probability per minute that the victim writes its own signature."""
    imitation: float
    """Probability that a failing call is logged in words that imitate a signature."""
    wrong_callee: float
    """Probability that a log line names the wrong callee."""
    cause_alert: float
    """Probability that a cause-level alert (cpu, memory, disk) fires."""
    false_alert: float
    """Probability per minute of an alert about nothing."""
    missing_logs: float
    """Probability that a service's logs do not arrive."""
    delayed_logs: float
    """Probability that a service's logs arrive three minutes late."""
    second_order: float
    """Probability that a cause left in force brings down one of the victim's callers for good."""
    deploys: int
    """Changes by people besides the one that matters."""
    bluff: bool
    """Rogues quote false figures, and agents blame one another."""


TIERS = by_tier(
    TierConfig,
    budget=(12, 18, 25),
    sizes=((8, 10), (9, 12), (9, 13)),
    noise=(0.02, 0.08, 0.1),
    gap=(0.0, 0.06, 0.12),
    activity=(ActivityLevel(3, 6, 5, 2), ActivityLevel(4, 6, 6, 3), ActivityLevel(4, 6, 7, 4)),
    alternate_agent=(0.2, 0.35, 0.5),
    silent_fault=(0.2, 0.35, 0.5),
    hot=(4, 6, 8),
    decoys=(1, 3, 6),
    signature_rate=(0.3, 0.2, 0.1),
    imitation=(0.3, 0.4, 0.5),
    wrong_callee=(0.0, 0.12, 0.25),
    cause_alert=(0.3, 0.2, 0.1),
    false_alert=(0.0, 0.1, 0.25),
    missing_logs=(0.0, 0.1, 0.2),
    delayed_logs=(0.0, 0.1, 0.2),
    second_order=(0.0, 0.3, 0.6),
    deploys=(3, 5, 8),
    bluff=(False, False, True),
)


class SecondaryFault(NamedTuple):
    """Lesser harm that a rogue does elsewhere."""

    mechanism: Mechanism
    verb: str


@dataclass(frozen=True, slots=True)
class FaultSpec:
    """What a scenario asks for: the mechanism, and who causes it."""

    mechanism: Mechanism
    verb: str | None = None
    """The verb of the rogue that causes it; None when no agent does."""
    person: bool = False
    """A person's change causes it."""
    secondary_fault: SecondaryFault | None = None
    """A rogue that does lesser harm elsewhere and is not the cause."""
    stuck: bool = False
    """An agent repeats itself to no effect."""
    suspect: bool = False
    """Innocents touch the victim just before and after."""

    def __post_init__(self) -> None:
        for field in ("person", "stuck", "suspect"):
            check_type(f"{field} of a FaultSpec", getattr(self, field), bool)
        check_type("mechanism of a FaultSpec", self.mechanism, Mechanism)
        if self.verb is not None:
            _check_rogue(self.mechanism, self.verb)
        if self.person and self.verb is not None:
            raise ValueError(f"a person or an agent causes a fault, got person=True and verb={self.verb!r}")
        if self.secondary_fault is not None:
            check_type("secondary_fault of a FaultSpec", self.secondary_fault, SecondaryFault)
            _check_rogue(*self.secondary_fault)


def _check_rogue(mechanism: Mechanism, verb: str) -> None:
    """Refuse a verb that there is not, or that is never used where the mechanism can strike."""
    check_type("mechanism of a FaultSpec", mechanism, Mechanism)
    check_choice("verb of an agent", verb, VERBS)
    if not KINDS[verb] & mechanism.kinds:
        raise ValueError(
            f"agents {verb} a {' or '.join(sorted(KINDS[verb]))}, and {mechanism.name!r} strikes a "
            f"{' or '.join(sorted(mechanism.kinds))}: no agent can cause it by that verb"
        )


class DeployRecord(NamedTuple):
    """A change that a person made."""

    minute: int
    person: str
    service: int
    revision: int


@dataclass(frozen=True)
class Incident:
    """Everything drawn. Two incidents of one (fault spec, tier, seed) are equal, wherever they are drawn."""

    key: bytes
    """Seeds the observation noise."""
    tier: TierConfig
    wording: Split
    system: ServiceSystem
    faults: tuple[Fault, ...]
    """The cause first."""
    roster: tuple[str, ...]
    """Automation agents at work."""
    plan: tuple[PlannedAction, ...]
    deploys: tuple[DeployRecord, ...]
    """Changes by people, in order of time."""
    traffic: tuple[float, ...]
    """User traffic relative to the healthy level, from minute -HISTORY on."""
    hot: dict[tuple[int, str], float]
    """(service, gauge) -> level of gauges that are always full."""
    decoys: tuple[tuple[str, int], ...]
    """(signature class, service) of lines about nothing."""
    services_without_logs: frozenset[int]
    """Services whose logs do not arrive."""
    services_with_late_logs: frozenset[int]
    """Services whose logs arrive three minutes late."""

    @property
    def cause(self) -> Fault:
        """The fault behind the page."""
        return self.faults[0]

    @cached_property
    def services_missing_lines(self) -> frozenset[int]:
        """Services whose latest lines are not there yet, or never will be."""
        return self.services_without_logs | self.services_with_late_logs

    @cached_property
    def rogues(self) -> frozenset[str]:
        """Agents that do harm."""
        return frozenset(f.agent for f in self.faults if f.agent is not None)

    @cached_property
    def receiver(self) -> int:
        """Where misrouted traffic lands; 0 when none is misrouted."""
        return next((f.receiver for f in self.faults if f.receiver), 0)


def draw_incident(
    fault_spec: FaultSpec,
    tier: str,
    seed: int,
    attempt: int = 0,
    *,
    service_topology: ServiceTopology | None = None,
    wording: Split = Split.TRAIN,
    names: Split = Split.TRAIN,
) -> Incident:
    """Draw an incident. `attempt` counts redraws of incidents that failed their certificate."""
    config, scene = TIERS[tier], fault_spec.mechanism.name
    rng = stream(seed, "incident", scene, fault_spec.verb or "", tier, attempt, *_extras(fault_spec))
    system, victims = _draw_system(rng, fault_spec, config, service_topology, names)
    faults = _draw_faults(rng, fault_spec, config, system, victims)
    needed = tuple(f.verb for f in faults if f.verb is not None)
    roster = draw_roster(rng, config.activity.verb_count, needed)
    horizon = config.budget + 2
    stuck = _draw_stuck(rng, roster, faults) if fault_spec.stuck else None
    plan = Planner(rng, system, roster, faults, config.activity, -HISTORY, horizon).draw(
        stuck, fault_spec.suspect or (config.bluff and rng.random() < 0.5)
    )
    hot, system = _draw_hot(rng, system, faults, config.hot)
    others = range(1, system.size)
    return Incident(
        key=hash_bytes(16, seed, "noise", scene, tier, attempt),
        tier=config,
        wording=pool(wording),
        system=system,
        faults=faults,
        roster=roster,
        plan=plan,
        deploys=_draw_deploys(rng, fault_spec, faults, config.deploys, system.size),
        traffic=draw_traffic(rng, HISTORY + horizon + 2),
        hot=hot,
        decoys=tuple([(CLASSES[int(rng.random() * len(CLASSES))], rng.choice(others)) for _ in range(config.decoys)]),
        services_without_logs=frozenset([i for i in others if rng.random() < config.missing_logs]),
        services_with_late_logs=frozenset([i for i in others if rng.random() < config.delayed_logs]),
    )


def _extras(fault_spec: FaultSpec) -> tuple[str, ...]:
    secondary_fault = fault_spec.secondary_fault.verb if fault_spec.secondary_fault else ""
    return (f"{fault_spec.person:d}{fault_spec.stuck:d}{fault_spec.suspect:d}", secondary_fault)


def _draw_system(
    rng: Random, fault_spec: FaultSpec, config: TierConfig, service_topology: ServiceTopology | None, names: Split
) -> tuple[ServiceSystem, list[int]]:
    """A system on which the scenario fits, and its victims: drawn graphs are drawn again, an imported one resized."""
    low, high = config.sizes
    for _ in range(60):
        shape = service_topology or draw_service_topology(
            rng, low + int(rng.random() * (high - low + 1)), SERVICES[pool(names)]
        )
        system = size_system(rng, shape)
        victims = _victims(system, fault_spec)
        if victims:
            return system, victims
    kinds = ", ".join(sorted(fault_spec.mechanism.kinds))
    present = ", ".join(sorted(set(system.kinds)))
    raise IncompatibleTopology(
        f"no service of this topology can carry {fault_spec.mechanism.name!r}: it needs a {kinds} that users "
        f"depend on and that is wired for it; the topology has {present}; choose another scenario or topology"
    )


LEAST_REACH = 0.12
"""Share of user requests that must depend on a victim; below it users would notice nothing, and most draws fail."""


def _victims(system: ServiceSystem, fault_spec: FaultSpec) -> list[int]:
    """Services that can carry the scenario, and whose trouble users would notice."""
    mechanism, verb = fault_spec.mechanism, fault_spec.verb
    return [
        i
        for i in system.services(mechanism.kinds)
        if system.reach[i] > LEAST_REACH
        and mechanism.fits(system, i)
        and (verb is None or system.kinds[i] in KINDS[verb])
        and (not mechanism.misroutes or _receivers(system, i))
    ]


def _receivers(system: ServiceSystem, target: int) -> list[int]:
    near = {target, *system.callers[target]}
    return [i for i in system.services(frozenset({"service"})) if i not in near]


def _draw_faults(
    rng: Random, fault_spec: FaultSpec, config: TierConfig, system: ServiceSystem, victims: list[int]
) -> tuple[Fault, ...]:
    cause = _draw_fault(rng, fault_spec.mechanism, fault_spec.verb, config, system, victims)
    if fault_spec.secondary_fault is not None:
        return (cause, _draw_secondary_fault(rng, fault_spec.secondary_fault, config, system, cause))
    if fault_spec.mechanism.fix and rng.random() < config.second_order:
        return (cause, *_draw_second_order(rng, system, cause))
    return (cause,)


def _draw_secondary_fault(
    rng: Random, harm: SecondaryFault, config: TierConfig, system: ServiceSystem, cause: Fault
) -> Fault:
    """The lesser harm that a bystanding rogue does, away from the cause and in another minute."""
    mechanism, verb = harm
    related = {cause.target, *system.callers[cause.target], *(c.callee for c in system.calls[cause.target])}
    fitting = [i for i in system.services(mechanism.kinds) if i != cause.target and mechanism.fits(system, i)]
    apart = [i for i in fitting if i not in related]
    user_visible = [i for i in apart if system.reach[i] > 0.35]
    secondary_fault = _draw_fault(
        rng, mechanism, verb, config, system, user_visible or apart or fitting or [cause.target]
    )
    onset = secondary_fault.onset if secondary_fault.onset != cause.onset else secondary_fault.onset - 1
    return replace(secondary_fault, secondary=True, onset=onset, silent=False)


def _draw_second_order(rng: Random, system: ServiceSystem, cause: Fault) -> tuple[Fault, ...]:
    """A second-order failure: requests that pile up at a caller of the victim fill its memory for good."""
    callers = [
        i for i in system.callers[cause.target] if system.kinds[i] in MEMORY_LEAK.kinds and MEMORY_LEAK.fits(system, i)
    ]
    if not callers:
        return ()
    return (Fault(MEMORY_LEAK, callers[int(rng.random() * len(callers))], NEVER, rng.random(), second_order=True),)


def _draw_fault(
    rng: Random, mechanism: Mechanism, verb: str | None, config: TierConfig, system: ServiceSystem, victims: list[int]
) -> Fault:
    random = rng.random
    target = victims[int(random() * len(victims))]
    onset = -(5 + int(random() * 3)) if mechanism.gradual else -1 if mechanism.transient else -(2 + int(random() * 4))
    receivers = _receivers(system, target) if mechanism.misroutes else []
    agent = VERBS[verb][random() < config.alternate_agent] if verb is not None else None
    return Fault(
        mechanism, target, onset, random(), agent, verb,
        receiver=receivers[int(random() * len(receivers))] if receivers else 0,
        silent=mechanism.can_be_silent and random() < config.silent_fault,
    )  # fmt: skip


def _draw_stuck(rng: Random, roster: tuple[str, ...], faults: tuple[Fault, ...]) -> str:
    """A buggy agent, of another verb than the fault's own."""
    verbs = {fault.verb for fault in faults}
    choice = [agent for agent in roster if AGENTS[agent] not in verbs] or list(roster)
    return choice[int(rng.random() * len(choice))]


GAUGE_KINDS = {
    "cpu": frozenset({"service"}),
    "memory": frozenset({"service"}),
    "disk": frozenset({"db", "queue"}),
    "slots": frozenset({"service", "db"}),
}
"""The kinds of service at which a gauge may always be full."""


def _draw_hot(
    rng: Random, system: ServiceSystem, faults: tuple[Fault, ...], count: int
) -> tuple[dict[tuple[int, str], float], ServiceSystem]:
    """Gauges that are always full: fixed heaps, spinning workers, static pools, packed volumes."""
    random, hot = rng.random, {}
    free = {gauge: system.services(kinds) for gauge, kinds in GAUGE_KINDS.items()}
    for fault in faults:
        own = free.get(fault.mechanism.gauge, [])  # never made a decoy, or the evidence would contradict itself
        if fault.target in own:
            own.remove(fault.target)
    levels = {"memory": list(system.memory), "disk": list(system.disk)}
    for _ in range(count):
        gauge = GAUGES[int(random() * 4)]
        choice = free[gauge]
        if choice:
            i = choice.pop(int(random() * len(choice)))
            hot[i, gauge] = level = 0.93 + 0.06 * random()
            if gauge in levels:
                levels[gauge][i] = level
    return hot, replace(system, memory=tuple(levels["memory"]), disk=tuple(levels["disk"]))


def _draw_deploys(
    rng: Random, fault_spec: FaultSpec, faults: tuple[Fault, ...], count: int, size: int
) -> tuple[DeployRecord, ...]:
    random, cause, out = rng.random, faults[0], []
    for _ in range(count):
        minute = -2 - int(random() * 4) if random() < 0.5 else -HISTORY + int(random() * (HISTORY + 4))
        person, service = PEOPLE[int(random() * len(PEOPLE))], 1 + int(random() * (size - 1))
        out.append(DeployRecord(minute, person, service, 100 + int(random() * 900)))
    struck = {(f.target, f.onset) for f in faults}
    out = [deploy for deploy in out if (deploy.service, deploy.minute) not in struck]
    if fault_spec.person:
        person = PEOPLE[int(random() * len(PEOPLE))]
        out.append(DeployRecord(cause.onset, person, cause.target, 100 + int(random() * 900)))
    return tuple(sorted(out))


TRAFFIC_STEP = 10
"""Minutes for which user traffic stays at one level; between steps an undisturbed world stands still."""


def draw_traffic(rng: Random, minutes: int) -> tuple[float, ...]:
    """User traffic of so many minutes relative to the healthy level, in steps of `TRAFFIC_STEP` minutes."""
    level, out = 0.0, []
    for minute in range(minutes):
        if minute % TRAFFIC_STEP == 0:
            level = 0.5 * level + 0.04 * (rng.random() - 0.5)
        out.append(1.0 + level)
    return tuple(out)
