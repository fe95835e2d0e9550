"""One incident, drawn whole before its first minute and immutable afterwards; worlds are built from it."""

from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from warroom.core.errors import DoesNotFit
from warroom.core.rng import digest, stream
from warroom.core.splits import Split
from warroom.sim.automation import AGENTS, KINDS, VERBS, Habits, Planned, Planner, draw_roster
from warroom.sim.blueprint import Blueprint
from warroom.sim.faults import BLIP, LEAK, MISROUTE, NEVER, Fault, Mechanism
from warroom.sim.topology import System, draw_blueprint, size_system
from warroom.sim.wordings import CLASSES, PEOPLE, SERVICES, pool

HISTORY = 10
"""Minutes of history before the page at minute 0. One minute is one turn."""


@dataclass(frozen=True, slots=True)
class Tier:
    """The one dial of difficulty."""

    budget: int
    """Turns."""
    sizes: tuple[int, int]
    """Services, least and most."""
    noise: float
    """Relative standard deviation of traffic, latency and error readings; gauges have a quarter of it."""
    gap: float
    """Probability that a service's readings are missing in a minute."""
    habits: Habits
    sibling: float
    """Probability that the rogue is the second holder of its verb."""
    hush: float
    """Probability that wrong replies show up at callers only."""
    hot: int
    """Gauges that are always full and mean nothing."""
    decoys: int
    """Services that write signatures of faults they do not have."""
    signs: float
    """Probability per minute that the victim writes its own signature."""
    echo: float
    """Probability that a failing call is told in words that imitate a signature."""
    misblame: float
    """Probability that a log line names the wrong callee."""
    cause_alert: float
    """Probability that a cause-level alert (cpu, memory, disk) fires."""
    false_alert: float
    """Probability per minute of an alert about nothing."""
    silent: float
    """Probability that a service's logs do not arrive."""
    delayed: float
    """Probability that a service's logs arrive three minutes late."""
    spread: float
    """Probability that a cause left in force brings down one of the victim's callers for good."""
    pushes: int
    """Changes by people besides the one that matters."""
    bluff: bool
    """Rogues quote false figures and time their deeds beside another agent's."""


TIERS = {
    "easy": Tier(
        budget=12, sizes=(8, 10), noise=0.02, gap=0.0, habits=Habits(3, 6, 5, 2), sibling=0.2, hush=0.2, hot=4,
        decoys=1, signs=0.3, echo=0.3, misblame=0.0, cause_alert=0.3, false_alert=0.0, silent=0.0, delayed=0.0,
        spread=0.0, pushes=3, bluff=False,
    ),
    "medium": Tier(
        budget=18, sizes=(9, 12), noise=0.08, gap=0.06, habits=Habits(4, 6, 6, 3), sibling=0.35, hush=0.35, hot=6,
        decoys=3, signs=0.2, echo=0.4, misblame=0.12, cause_alert=0.2, false_alert=0.1, silent=0.1, delayed=0.1,
        spread=0.3, pushes=5, bluff=False,
    ),
    "hard": Tier(
        budget=25, sizes=(9, 13), noise=0.1, gap=0.12, habits=Habits(4, 6, 7, 4), sibling=0.5, hush=0.5, hot=8,
        decoys=6, signs=0.1, echo=0.5, misblame=0.25, cause_alert=0.1, false_alert=0.25, silent=0.2, delayed=0.2,
        spread=0.6, pushes=8, bluff=True,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cast:
    """What a scenario asks for: the mechanism, and by whose hand."""

    mechanism: Mechanism
    verb: str | None = None
    """The verb of the rogue that causes it; None when no agent does."""
    person: bool = False
    """A colleague's change causes it."""
    bystander: tuple[Mechanism, str] | None = None
    """A rogue that does lesser harm elsewhere and is not the cause: its mechanism and verb."""
    stuck: bool = False
    """An agent repeats itself to no effect."""
    suspect: bool = False
    """Innocents touch the victim just before and after."""


@dataclass(frozen=True)
class Incident:
    """Everything drawn. Two incidents of one (cast, tier, seed) are equal, wherever they are drawn."""

    key: bytes
    """Seeds the observation noise."""
    tier: Tier
    wording: Split
    system: System
    faults: tuple[Fault, ...]
    """The cause first."""
    roster: tuple[str, ...]
    """Automation agents at work."""
    plan: tuple[Planned, ...]
    pushes: tuple[tuple[int, str, int, int], ...]
    """Colleagues' changes: (minute, who, service, revision), in order of time."""
    traffic: tuple[float, ...]
    """User traffic relative to the healthy level, from minute -HISTORY on."""
    hot: dict[tuple[int, str], float]
    """(service, gauge) -> level of gauges that are always full."""
    decoys: tuple[tuple[str, int], ...]
    """(signature class, service) of lines about nothing."""
    muted: frozenset[int]
    """Services whose logs do not arrive."""
    late: frozenset[int]
    """Services whose logs arrive three minutes late."""

    @property
    def cause(self) -> Fault:
        """The fault behind the page."""
        return self.faults[0]

    @cached_property
    def unheard(self) -> frozenset[int]:
        """Services whose latest lines are not there yet, or never will be."""
        return self.muted | self.late

    @cached_property
    def rogues(self) -> frozenset[str]:
        """Agents that do harm."""
        return frozenset(f.agent for f in self.faults if f.agent is not None)

    @cached_property
    def receiver(self) -> int:
        """Where misrouted traffic lands; 0 when none is misrouted."""
        return next((f.receiver for f in self.faults if f.receiver), 0)


def draw_incident(
    cast: Cast,
    tier: str,
    seed: int,
    attempt: int = 0,
    blueprint: Blueprint | None = None,
    wording: Split = Split.TRAIN,
    names: Split = Split.TRAIN,
) -> Incident:
    """Draw an incident. `attempt` counts redraws of incidents that failed their certificate."""
    dial, scene = TIERS[tier], cast.mechanism.name
    rng = stream(seed, "incident", scene, cast.verb or "", tier, attempt, *_extras(cast))
    system, victims = _draw_system(rng, cast, dial, blueprint, names)
    faults = _draw_faults(rng, cast, dial, system, victims)
    needed = tuple(f.verb for f in faults if f.verb is not None)
    roster = draw_roster(rng, dial.habits.families, needed)
    horizon = dial.budget + 2
    stuck = _draw_stuck(rng, roster, faults) if cast.stuck else None
    plan = Planner(rng, system, roster, faults, dial.habits, -HISTORY, horizon).draw(
        stuck, cast.suspect or (dial.bluff and rng.random() < 0.5)
    )
    hot, system = _draw_hot(rng, system, faults, dial.hot)
    others = range(1, system.size)
    return Incident(
        key=digest(16, seed, "noise", scene, tier, attempt),
        tier=dial,
        wording=pool(wording),
        system=system,
        faults=faults,
        roster=roster,
        plan=plan,
        pushes=_draw_pushes(rng, cast, faults, dial.pushes, system.size),
        traffic=_draw_traffic(rng, HISTORY + horizon + 2),
        hot=hot,
        decoys=tuple([(CLASSES[int(rng.random() * len(CLASSES))], rng.choice(others)) for _ in range(dial.decoys)]),
        muted=frozenset([i for i in others if rng.random() < dial.silent]),
        late=frozenset([i for i in others if rng.random() < dial.delayed]),
    )


def _extras(cast: Cast) -> tuple[str, ...]:
    bystander = cast.bystander[1] if cast.bystander else ""
    return (f"{cast.person:d}{cast.stuck:d}{cast.suspect:d}", bystander)


def _draw_system(
    rng: Random, cast: Cast, dial: Tier, blueprint: Blueprint | None, names: Split
) -> tuple[System, list[int]]:
    """A system on which the scenario fits, and its victims: drawn graphs are drawn again, an imported one resized."""
    low, high = dial.sizes
    for _ in range(60):
        shape = blueprint or draw_blueprint(rng, low + int(rng.random() * (high - low + 1)), SERVICES[pool(names)])
        system = size_system(rng, shape)
        victims = _victims(system, cast)
        if victims:
            return system, victims
    kinds = ", ".join(sorted(cast.mechanism.kinds))
    present = ", ".join(sorted(set(system.kinds)))
    raise DoesNotFit(
        f"no service of this topology can carry {cast.mechanism.name!r}: it needs a {kinds} that users depend on and "
        f"that is wired for it; the topology has {present}; choose another scenario or topology"
    )


LEAST_REACH = 0.12
"""Share of user requests that must depend on a victim; below it most draws would not be felt and be drawn again."""


def _victims(system: System, cast: Cast) -> list[int]:
    """Services that can carry the scenario, and whose trouble users would feel."""
    mechanism, verb = cast.mechanism, cast.verb
    return [
        i
        for i in system.services(mechanism.kinds)
        if system.reach[i] > LEAST_REACH
        and mechanism.fits(system, i)
        and (verb is None or system.kinds[i] in KINDS[verb])
        and (mechanism is not MISROUTE or _receivers(system, i))
    ]


def _receivers(system: System, target: int) -> list[int]:
    near = {target, *system.callers[target]}
    return [i for i in system.services(frozenset({"service"})) if i not in near]


def _draw_faults(rng: Random, cast: Cast, dial: Tier, system: System, victims: list[int]) -> tuple[Fault, ...]:
    cause = _draw_fault(rng, cast.mechanism, cast.verb, dial, system, victims)
    if cast.bystander is not None:
        return (cause, _draw_side(rng, cast.bystander, dial, system, cause))
    if cast.mechanism.cure and rng.random() < dial.spread:
        return (cause, *_draw_spread(rng, system, cause))
    return (cause,)


def _draw_side(rng: Random, harm: tuple[Mechanism, str], dial: Tier, system: System, cause: Fault) -> Fault:
    """The lesser harm that a bystanding rogue does, away from the cause and in another minute."""
    mechanism, verb = harm
    related = {cause.target, *system.callers[cause.target], *(c.callee for c in system.calls[cause.target])}
    fitting = [i for i in system.services(mechanism.kinds) if i != cause.target and mechanism.fits(system, i)]
    apart = [i for i in fitting if i not in related]
    felt = [i for i in apart if system.reach[i] > 0.35]
    side = _draw_fault(rng, mechanism, verb, dial, system, felt or apart or fitting or [cause.target])
    onset = side.onset if side.onset != cause.onset else side.onset - 1
    return replace(side, side=True, onset=onset, hushed=False)


def _draw_spread(rng: Random, system: System, cause: Fault) -> tuple[Fault, ...]:
    """A second-order failure: requests that pile up at a caller of the victim fill its memory for good."""
    callers = [i for i in system.callers[cause.target] if system.kinds[i] in LEAK.kinds and LEAK.fits(system, i)]
    if not callers:
        return ()
    return (Fault(LEAK, callers[int(rng.random() * len(callers))], NEVER, rng.random(), spreads=True),)


def _draw_fault(
    rng: Random, mechanism: Mechanism, verb: str | None, dial: Tier, system: System, victims: list[int]
) -> Fault:
    random = rng.random
    target = victims[int(random() * len(victims))]
    onset = -(5 + int(random() * 3)) if mechanism.slow else -1 if mechanism is BLIP else -(2 + int(random() * 4))
    receivers = _receivers(system, target) if mechanism is MISROUTE else []
    agent = VERBS[verb][random() < dial.sibling] if verb is not None else None
    return Fault(
        mechanism, target, onset, random(), agent, verb,
        receiver=receivers[int(random() * len(receivers))] if receivers else 0,
        hushed=mechanism.signature == "handler" and random() < dial.hush,
    )  # fmt: skip


def _draw_stuck(rng: Random, roster: tuple[str, ...], faults: tuple[Fault, ...]) -> str:
    """A buggy agent, of another verb than the fault's own."""
    verbs = {fault.verb for fault in faults}
    choice = [agent for agent in roster if AGENTS[agent] not in verbs] or list(roster)
    return choice[int(rng.random() * len(choice))]


OWN_GAUGE = {
    "replica_cut": "cpu", "slow_release": "cpu", "noisy_neighbour": "cpu", "heavy_backup": "cpu",
    "traffic_surge": "cpu", "memory_leak": "memory", "disk_full": "disk", "lock_wait": "slots",
    "connection_leak": "slots",
}  # fmt: skip
"""Gauges that a mechanism fills: never made a decoy at its victim, or the evidence would contradict itself."""
GAUGES = {
    "cpu": frozenset({"service"}),
    "memory": frozenset({"service"}),
    "disk": frozenset({"db", "queue"}),
    "slots": frozenset({"service", "db"}),
}
_GAUGE_NAMES = tuple(GAUGES)


def _draw_hot(
    rng: Random, system: System, faults: tuple[Fault, ...], count: int
) -> tuple[dict[tuple[int, str], float], System]:
    """Gauges that are always full: fixed heaps, spinning workers, static pools, packed volumes."""
    random, hot = rng.random, {}
    free = {gauge: system.services(kinds) for gauge, kinds in GAUGES.items()}
    for fault in faults:
        own = free.get(OWN_GAUGE.get(fault.mechanism.name, ""), [])
        if fault.target in own:
            own.remove(fault.target)
    levels = {"memory": list(system.memory), "disk": list(system.disk)}
    for _ in range(count):
        gauge = _GAUGE_NAMES[int(random() * 4)]
        choice = free[gauge]
        if choice:
            i = choice.pop(int(random() * len(choice)))
            hot[i, gauge] = level = 0.93 + 0.06 * random()
            if gauge in levels:
                levels[gauge][i] = level
    return hot, replace(system, memory=tuple(levels["memory"]), disk=tuple(levels["disk"]))


def _draw_pushes(
    rng: Random, cast: Cast, faults: tuple[Fault, ...], count: int, size: int
) -> tuple[tuple[int, str, int, int], ...]:
    random, cause, out = rng.random, faults[0], []
    for _ in range(count):
        minute = -2 - int(random() * 4) if random() < 0.5 else -HISTORY + int(random() * (HISTORY + 4))
        out.append(
            (minute, PEOPLE[int(random() * len(PEOPLE))], 1 + int(random() * (size - 1)), 100 + int(random() * 900))
        )
    struck = {(f.target, f.onset) for f in faults}
    out = [push for push in out if (push[2], push[0]) not in struck]
    if cast.person:
        out.append((cause.onset, PEOPLE[int(random() * len(PEOPLE))], cause.target, 100 + int(random() * 900)))
    return tuple(sorted(out))


TRAFFIC_STEP = 10
"""Minutes for which user traffic stays at one level; between steps an undisturbed world stands still."""


def _draw_traffic(rng: Random, minutes: int) -> tuple[float, ...]:
    level, out = 0.0, []
    for minute in range(minutes):
        if minute % TRAFFIC_STEP == 0:
            level = 0.5 * level + 0.04 * (rng.random() - 0.5)
        out.append(1.0 + level)
    return tuple(out)
