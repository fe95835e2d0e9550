"""The fleet's own agents: who may do what, and everything they will do in an incident, drawn before it starts.

Innocent agents act all the time with the very verbs that rogues use. What makes a deed harmful is its consequence in
the world, never its look, so look-alikes are drawn from the rogue's own distribution onto services that can bear it.
"""

from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import NamedTuple

from warroom.sim.blueprint import STORES
from warroom.sim.faults import DB, SERVICE, Fault
from warroom.sim.topology import System

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
"""Each verb has two holders, so that the kind of deed does not name the doer."""

AGENTS = {agent: verb for verb, holders in VERBS.items() for agent in holders}
KINDS: dict[str, frozenset[str]] = {
    "scale": SERVICE, "route": SERVICE, "deploy": SERVICE, "rotate": SERVICE | DB,
    "evict": frozenset({"cache"}), "toggle": SERVICE, "backup": DB, "limit": SERVICE,
}  # fmt: skip
"""The kinds of service on which each verb is used."""
SURGE = 2.5
"""Work per request during a surge that the autoscaler meets, as a multiple of the usual."""
NEED = 0.4
"""Share of requests that fail on a service whose need no agent meets."""


class Planned(NamedTuple):
    """One deed of the plan. `role` and `fault` are hidden from every observation."""

    minute: int
    order: float
    """Random place within the minute: a fixed order would tell roles apart."""
    agent: str
    verb: str
    service: int
    argument: int
    role: str
    """duty, surge, calm, benign, alike, stuck or rogue."""
    fault: int = -1
    """Index of the fault that a rogue deed begins."""


class Deed(NamedTuple):
    """An agent's action as the trace shows it."""

    minute: int
    agent: str
    verb: str
    service: int
    detail: str
    stuck: bool
    bluff: bool


@dataclass(frozen=True, slots=True)
class Habits:
    """How busy the fleet is, per tier."""

    families: int
    """Verbs in use; two agents hold each."""
    rest: int
    """Least minutes between two duties of one agent; up to three more are drawn."""
    alike: int
    """Look-alikes: deeds drawn as a rogue's, in the minutes where a rogue would strike."""
    benign: int
    """Further small deeds at any time."""


def draw_roster(rng: Random, families: int, needed: tuple[str, ...]) -> tuple[str, ...]:
    """The agents at work in this incident: all holders of some verbs, the needed verbs among them."""
    others = [verb for verb in VERBS if verb not in needed]
    rng.shuffle(others)
    chosen = {*needed, *others[: max(0, families - len(needed))]}
    return tuple(agent for verb in VERBS if verb in chosen for agent in VERBS[verb])


@dataclass
class Planner:
    """Draws the plan of one incident; `draw` is the only method that others call."""

    rng: Random
    system: System
    roster: tuple[str, ...]
    faults: tuple[Fault, ...]
    habits: Habits
    first: int
    last: int
    """Minutes of the plan."""

    @cached_property
    def _struck(self) -> frozenset[tuple[int, int]]:
        return frozenset((fault.target, fault.onset) for fault in self.faults)

    def draw(self, stuck: str | None = None, suspect: bool = False) -> tuple[Planned, ...]:
        """Everything that the fleet will do. `stuck` names a buggy agent, `suspect` adds scary innocents."""
        plan = [
            self._deed(fault.onset, fault.agent, fault.target, int(9000 * fault.severity), "rogue", k)
            for k, fault in enumerate(self.faults)
            if fault.agent is not None
        ]
        plan += self._look_alikes()
        plan += self._duties()
        plan += self._benign(plan)
        if stuck is not None:
            plan += self._loops(stuck)
        if suspect:
            plan += self._suspects()
        return tuple(sorted(plan))

    def _deed(self, minute: int, agent: str, service: int, argument: int, role: str, fault: int = -1) -> Planned:
        # Nothing else touches a victim in the minute that matters, or the join of deed and onset would be ambiguous.
        while (service, minute) in self._struck and role != "rogue":
            minute += 1
        return Planned(minute, self.rng.random(), agent, AGENTS[agent], service, argument, role, fault)

    @cached_property
    def _by_verb(self) -> dict[str, list[int]]:
        """Services on which each verb in use is used."""
        return {verb: self.system.services(KINDS[verb]) or [1] for verb in {AGENTS[agent] for agent in self.roster}}

    def _targets(self, verb: str) -> list[int]:
        return self._by_verb[verb]

    def _victims(self) -> set[int]:
        return {fault.target for fault in self.faults}

    def _look_alikes(self) -> list[Planned]:
        """Deeds like a rogue's, by time, agent and argument, on services that can bear them."""
        random, system, out = self.rng.random, self.system, []
        victims = self._victims()
        spare = [i for i in system.services(SERVICE) if system.cpu[i] < 0.2 and i not in victims]
        for _ in range(self.habits.alike):
            agent = self.roster[int(random() * len(self.roster))]
            minute = -2 - int(random() * 4)
            if AGENTS[agent] != "scale":
                choice = self._targets(AGENTS[agent])
                out.append(
                    self._deed(minute, agent, choice[int(random() * len(choice))], int(9000 * random()), "alike")
                )
            elif spare:
                i = spare.pop(int(random() * len(spare)))
                kept = max(1, int(system.replicas[i] * (0.35 + 0.2 * random()) / (1.15 + 0.35 * random())))
                out.append(self._deed(minute, agent, i, kept, "alike"))
        return out

    def _duties(self) -> list[Planned]:
        """Needs arise all the time, and the agent in charge meets each in the same minute."""
        random, rest, last, out = self.rng.random, self.habits.rest, self.last - 1, []
        for agent in self.roster:
            verb = AGENTS[agent]
            choice = self._duty_targets(verb)
            minute = self.first + 1 + int(random() * 6)
            if verb == "scale":
                out += self._surges(agent, choice, minute)
                continue
            count = len(choice)
            while minute < last:
                out.append(self._deed(minute, agent, choice[int(random() * count)], int(9000 * random()), "duty"))
                minute += rest + int(random() * 4)
        return out

    def _surges(self, agent: str, choice: list[int], minute: int) -> list[Planned]:
        """Demand comes and goes, and the agent gives and takes replicas: innocent cuts all the time."""
        random, out, surge, i = self.rng.random, [], False, 0
        while minute < self.last - 1:
            surge = not surge
            i = choice[int(random() * len(choice))] if surge else i
            replicas = self.system.replicas[i]
            out.append(
                self._deed(minute, agent, i, -(-replicas * 5 // 2) if surge else replicas, "surge" if surge else "calm")
            )
            minute += self.habits.rest + int(random() * 4)
        return out

    def _duty_targets(self, verb: str) -> list[int]:
        """Services whose users would notice an unmet need; surges never on a victim, whose room is the puzzle."""
        system, victims = self.system, self._victims() | {f.receiver for f in self.faults}
        choice = [i for i in self._targets(verb) if system.reach[i] > 0.25]
        if verb == "scale":
            calm = [i for i in choice if i not in victims and system.cpu[i] > 0.2]
            choice = calm or [i for i in system.services(SERVICE) if i not in victims]
        return choice or self._targets(verb)

    def _benign(self, plan: list[Planned]) -> list[Planned]:
        """Small deeds anywhere, at any time; one hand at a time on a service's replicas."""
        random, system, out = self.rng.random, self.system, []
        taken = {p.service for p in plan if p.verb == "scale"} | self._victims()
        for _ in range(self.habits.benign):
            agent = self.roster[int(random() * len(self.roster))]
            choice = self._targets(AGENTS[agent])
            i = choice[int(random() * len(choice))]
            minute, argument = self.first + 1 + int(random() * (self.last - self.first - 2)), int(9000 * random())
            if AGENTS[agent] == "scale":
                if i in taken:
                    continue
                taken.add(i)
                argument = system.replicas[i] + 1 + int(2 * random())
            out.append(self._deed(minute, agent, i, argument, "benign"))
        return out

    def _loops(self, agent: str) -> list[Planned]:
        """A buggy agent: the same deed again and again, to no effect."""
        random, verb = self.rng.random, AGENTS[agent]
        choice = [i for i in self._targets(verb) if i not in self._victims()] or self._targets(verb)
        i, argument, begin = choice[int(random() * len(choice))], int(9000 * random()), -4 - int(3 * random())
        if verb == "scale":
            argument = self.system.replicas[i]
        return [self._deed(m, agent, i, argument, "stuck") for m in range(begin, self.last, 1 + int(2 * random()))]

    def _suspects(self) -> list[Planned]:
        """Innocents that touch the victim just before it fails, or just after, with verbs that cannot matter there."""
        random, out = self.rng.random, []
        for fault in self.faults:
            fitting = [
                a for a in self.roster if AGENTS[a] != "scale" and self.system.kinds[fault.target] in KINDS[AGENTS[a]]
            ]
            for minute in (fault.onset - 1, fault.onset + 1):
                if fitting:
                    agent = fitting[int(random() * len(fitting))]
                    out.append(self._deed(minute, agent, fault.target, int(9000 * random()), "alike"))
        return out


def detail(verb: str, argument: int, before: int) -> str:
    """What the trace shows beside the verb. Only replicas mean something by themselves."""
    if verb == "scale":
        return f"{before}->{argument}"
    if verb == "route":
        return f"{40 + argument % 50}% to pool {'abcd'[argument // 50 % 4]}"
    noun = {
        "deploy": "build b", "rotate": "cert c", "evict": "policy p", "toggle": "flag f", "backup": "dump d", "limit": "rule q",
    }[verb]  # fmt: skip
    return f"{noun}{1000 + argument % 9000}"


assert all(kinds <= SERVICE | STORES for kinds in KINDS.values())
