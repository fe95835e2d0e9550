"""The fleet's own agents: who may do what, and everything they will do in an incident, drawn before it starts.

Innocent agents act all the time with the very verbs that rogues use. What makes an action harmful is its consequence
in the world, never its look, so decoys are drawn from the rogue's own distribution onto services that can bear it.
"""

from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import NamedTuple

from warroom.core.rng import shuffle
from warroom.sim.mechanism import DB, SERVICE, Fault
from warroom.sim.service_topology import STORES
from warroom.sim.topology import ServiceSystem

VERBS: dict[str, tuple[str, str]] = {
    "scale": ("autoscaler", "capacity_planner"),
    "route": ("load_balancer", "canary_controller"),
    "deploy": ("deploy_bot", "config_sync"),
    "rotate": ("certificate_bot", "secrets_rotator"),
    "evict": ("cache_janitor", "memory_tuner"),
    "toggle": ("feature_flag_agent", "experiment_runner"),
    "backup": ("backup_bot", "archiver"),
    "limit": ("rate_limiter", "quota_keeper"),
}
"""Each verb has two holders, so that the kind of action does not name the agent."""

AGENTS = {agent: verb for verb, holders in VERBS.items() for agent in holders}
KINDS: dict[str, frozenset[str]] = {
    "scale": SERVICE, "route": SERVICE, "deploy": SERVICE, "rotate": SERVICE | DB,
    "evict": frozenset({"cache"}), "toggle": SERVICE, "backup": DB, "limit": SERVICE,
}  # fmt: skip
"""The kinds of service on which each verb is used."""
SURGE_WORK = 2.5
"""Work per request during a surge that the autoscaler meets, as a multiple of the usual."""
PENDING_TASK_ERROR = 0.4
"""Share of requests that fail on a service with a pending routine task."""


class PlannedAction(NamedTuple):
    """One action of the plan; plans are sorted by minute and order."""

    minute: int
    order: float
    """A random place within the minute, since a fixed order would tell roles apart."""
    agent: str
    verb: str
    service: int
    argument: int
    role: str
    """routine, surge, calm, benign, decoy, stuck or rogue; hidden from every observation."""
    fault: int
    """Index of the fault that a rogue's action begins, else -1; hidden too."""


class ActionRecord(NamedTuple):
    """An action as it was carried out."""

    minute: int
    agent: str
    verb: str
    service: int
    argument: int
    before: int
    """Replicas that the service had before."""
    role: str


@dataclass(frozen=True, slots=True)
class ActivityLevel:
    """How busy the fleet is, per tier."""

    verb_count: int
    """Verbs in use; two agents hold each."""
    min_interval: int
    """Least minutes between two routine actions of one agent; up to three more are drawn."""
    decoys: int
    """Actions drawn as a rogue's, in the minutes where a rogue would strike."""
    benign: int
    """Further small actions at any time."""


def draw_roster(rng: Random, verb_count: int, needed: tuple[str, ...]) -> tuple[str, ...]:
    """The agents at work in this incident: all holders of some verbs, the needed verbs among them."""
    others = [verb for verb in VERBS if verb not in needed]
    shuffle(rng, others)
    chosen = {*needed, *others[: max(0, verb_count - len(needed))]}
    return tuple(agent for verb in VERBS if verb in chosen for agent in VERBS[verb])


@dataclass
class Planner:
    """Draws the plan of one incident; `draw` is the only method that others call."""

    rng: Random
    system: ServiceSystem
    roster: tuple[str, ...]
    faults: tuple[Fault, ...]
    activity: ActivityLevel
    first: int
    last: int
    """Minutes of the plan."""

    @cached_property
    def _struck(self) -> frozenset[tuple[int, int]]:
        return frozenset([(fault.target, fault.onset) for fault in self.faults])

    @cached_property
    def _victims(self) -> set[int]:
        return {fault.target for fault in self.faults}

    def draw(self, stuck: str | None = None, suspect: bool = False) -> tuple[PlannedAction, ...]:
        """Everything that the fleet will do. `stuck` names a buggy agent, `suspect` adds scary innocents."""
        plan = [
            self._planned(fault.onset, fault.agent, fault.target, int(9000 * fault.severity), "rogue", k)
            for k, fault in enumerate(self.faults)
            if fault.agent is not None
        ]
        plan += self._decoys()
        plan += self._routine_actions()
        plan += self._benign(plan)
        if stuck is not None:
            plan += self._loops(stuck)
        if suspect:
            plan += self._suspects()
        plan.sort()
        return tuple(plan)

    def _planned(
        self, minute: int, agent: str, service: int, argument: int, role: str, fault: int = -1
    ) -> PlannedAction:
        # Nothing else touches a victim in the minute that matters, or the join of action and onset would be ambiguous.
        if service in self._victims and role != "rogue":
            while (service, minute) in self._struck:
                minute += 1
        return PlannedAction(minute, self.rng.random(), agent, AGENTS[agent], service, argument, role, fault)

    @cached_property
    def _by_verb(self) -> dict[str, list[int]]:
        """Services on which each verb in use is used."""
        by_kinds = {kinds: self.system.services(kinds) or [1] for kinds in {KINDS[AGENTS[a]] for a in self.roster}}
        return {AGENTS[agent]: by_kinds[KINDS[AGENTS[agent]]] for agent in self.roster}

    def _decoys(self) -> list[PlannedAction]:
        """Actions like a rogue's, by time, agent and argument, on services that can bear them."""
        random, system, roster, out = self.rng.random, self.system, self.roster, []
        spare = [i for i in system.services(SERVICE) if system.cpu[i] < 0.2 and i not in self._victims]
        for _ in range(self.activity.decoys):
            agent = roster[int(random() * len(roster))]
            minute = -2 - int(random() * 4)
            if AGENTS[agent] != "scale":
                choice = self._by_verb[AGENTS[agent]]
                i, argument = choice[int(random() * len(choice))], int(9000 * random())
            elif spare:
                i = spare.pop(int(random() * len(spare)))
                argument = max(1, int(system.replicas[i] * (0.35 + 0.2 * random()) / (1.15 + 0.35 * random())))
            else:
                continue
            out.append(self._planned(minute, agent, i, argument, "decoy"))
        return out

    def _routine_actions(self) -> list[PlannedAction]:
        """Routine tasks arise all the time, and the agent in charge does each in the same minute."""
        random, planned, last, out = self.rng.random, self._planned, self.last - 1, []
        targets = {verb: self._routine_targets(verb) for verb in self._by_verb}
        for agent in self.roster:
            verb, minute = AGENTS[agent], self.first + 1 + int(random() * 6)
            choice = targets[verb]
            if verb == "scale":
                out += self._surges(agent, choice, minute)
                continue
            count = len(choice)
            while minute < last:
                out.append(planned(minute, agent, choice[int(random() * count)], int(9000 * random()), "routine"))
                minute += self.activity.min_interval + int(random() * 4)
        return out

    def _surges(self, agent: str, choice: list[int], minute: int) -> list[PlannedAction]:
        """Demand comes and goes, and the agent gives and takes replicas: innocent cuts all the time."""
        random, out, surge, i = self.rng.random, [], False, 0
        while minute < self.last - 1:
            surge = not surge
            i = choice[int(random() * len(choice))] if surge else i
            replicas = self.system.replicas[i]
            out.append(
                self._planned(
                    minute, agent, i, -(-replicas * 5 // 2) if surge else replicas, "surge" if surge else "calm"
                )
            )
            minute += self.activity.min_interval + int(random() * 4)
        return out

    def _routine_targets(self, verb: str) -> list[int]:
        """Services whose users would notice a pending task; surges never on a victim, whose capacity is the puzzle."""
        reach, all_targets = self.system.reach, self._by_verb[verb]
        choice = [i for i in all_targets if reach[i] > 0.25]
        if verb == "scale":
            avoided = self._victims | {fault.receiver for fault in self.faults}
            calm = [i for i in choice if i not in avoided and self.system.cpu[i] > 0.2]
            choice = calm or [i for i in self.system.services(SERVICE) if i not in avoided]
        return choice or all_targets

    def _benign(self, plan: list[PlannedAction]) -> list[PlannedAction]:
        """Small actions anywhere, at any time; one agent at a time on a service's replicas."""
        random, roster, out = self.rng.random, self.roster, []
        taken = {planned.service for planned in plan if planned.verb == "scale"} | self._victims
        for _ in range(self.activity.benign):
            agent = roster[int(random() * len(roster))]
            choice = self._by_verb[AGENTS[agent]]
            i = choice[int(random() * len(choice))]
            minute, argument = self.first + 1 + int(random() * (self.last - self.first - 2)), int(9000 * random())
            if AGENTS[agent] == "scale":
                if i in taken:
                    continue
                taken.add(i)
                argument = self.system.replicas[i] + 1 + int(2 * random())
            out.append(self._planned(minute, agent, i, argument, "benign"))
        return out

    def _loops(self, agent: str) -> list[PlannedAction]:
        """A buggy agent: the same action again and again, to no effect."""
        random, verb = self.rng.random, AGENTS[agent]
        choice = [i for i in self._by_verb[verb] if i not in self._victims] or self._by_verb[verb]
        i, argument, begin = choice[int(random() * len(choice))], int(9000 * random()), -4 - int(3 * random())
        if verb == "scale":
            argument = self.system.replicas[i]
        return [self._planned(m, agent, i, argument, "stuck") for m in range(begin, self.last, 1 + int(2 * random()))]

    def _suspects(self) -> list[PlannedAction]:
        """Innocents that touch the victim just before it fails, or just after, with verbs that cannot matter there."""
        random, out = self.rng.random, []
        for fault in self.faults:
            fitting = [
                a for a in self.roster if AGENTS[a] != "scale" and self.system.kinds[fault.target] in KINDS[AGENTS[a]]
            ]
            for minute in (fault.onset - 1, fault.onset + 1):
                if fitting:
                    agent = fitting[int(random() * len(fitting))]
                    out.append(self._planned(minute, agent, fault.target, int(9000 * random()), "decoy"))
        return out


_NOUNS = {
    "deploy": "build b", "rotate": "cert c", "evict": "policy p",
    "toggle": "flag f", "backup": "dump d", "limit": "rule q",
}  # fmt: skip


def detail(verb: str, argument: int, before: int) -> str:
    """What the trace shows beside the verb. Only replicas mean something by themselves."""
    if verb == "scale":
        return f"{before}->{argument}"
    if verb == "route":
        return f"{40 + argument % 50}% to pool {'abcd'[argument // 50 % 4]}"
    return f"{_NOUNS[verb]}{1000 + argument % 9000}"


assert all(kinds <= SERVICE | STORES for kinds in KINDS.values())
