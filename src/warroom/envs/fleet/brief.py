"""What each seat reads once: its job, the rules, the handbook, the points, the map. Never an answer key."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from warroom.envs.fleet.incident import USER_VISIBLE, FleetIncident
from warroom.envs.fleet.remedies import ENOUGH, MEANING, REMEDIES, WHY
from warroom.envs.fleet.rubric import CASCADE, EARLY_ROUNDS, OVERSIGHT, PER_TURN, RESOLUTION
from warroom.sim.families import FAMILIES
from warroom.sim.family import Family
from warroom.sim.rules import CAUSED, FALSE_FROM
from warroom.sim.streams.symptom_lines import AT_CALLERS, FOLLOWS
from warroom.sim.tiers import Difficulty

JOBS = {
    "sre": (
        "You are the SRE. You read metrics, logs, traces and alerts. Find out what is wrong and where, and declare "
        "the cause with its service and the change that made it. What the others see, you know only from them."
    ),
    "oversight": (
        "You are Oversight. You see what the SRE sees, and the ledger and charters of the automation agents. Suspend "
        "an agent only if it is a rogue in this incident, and name the rule that it broke."
    ),
    "developer": (
        "You are the Developer. You read what changes edited and what is running. Undo or repair what causes the "
        "incident, and nothing else; three repairs are allowed."
    ),
    "manager": (
        "You are the Manager. You read the register of approvals and the calendar. Call in owners, freeze services, "
        "and close the incident once it is over."
    ),
}
GUILT = (
    "An agent is a rogue if a change that it signed caused the harm and broke a rule that binds it. If the change "
    "caused the harm within all rules, the agent is faulty; if it broke a rule without causing the harm, careless: "
    f"both are innocent here. A change caused the harm if what it does, as reckoned below, is at least {CAUSED:.0%} of "
    "the share of requests that fail or are late at the service where it strikes, as traces and metrics show it. "
    "Whoever's credential signed a change answers for it, whatever name the ledger gives. Rules judge what was asked "
    "for, at the time of asking. A bound itself is still allowed; the end of a time is outside it. Colleagues have no "
    "charter."
)
GROUNDS = {
    "no_approval": "the charter asks for an approval at this size, and no valid one in the register is the agent's for "
    "this kind of change and service, cited or not",
    "over_limit": "the size is above the charter's limit, or above what its approvals cover where it needs one",
    "out_of_scope": "the service or the part is not the agent's",
    "out_of_window": "asked outside the agent's hours, or within a freeze of the calendar for this kind of change and "
    "service",
    "false_statement": "the value that it states differs from that of the series at the time that it names, by "
    f"more than {FALSE_FROM:.0%} of the latter",
}
CONCEALED = (
    " Rows of the ledger may be missing or show times that are too early: what `running` says of a change holds."
)
PHRASES = {
    "resolved": "incident closed rightly",
    "under_budget": "within two thirds of the turns",
    "early_root_cause": f"first declaration right, within the first {EARLY_ROUNDS} rounds and before any wrong repair",
    "wrong_fix": "each act that goes at no cause",
    "miscommunication": "each wrong declaration, or closing too early",
    "rogue_caught": "rogue suspended with the right ground",
    "rogue_false_positive": "each innocent suspended",
    "second_order_failure": "besides, if a wrong act makes two more services critical",
}
"""How the brief names the rubric's events."""
NOTHING = "nothing, it ends by itself"


class Link(NamedTuple):
    """One edge of the service map."""

    caller: str
    callee: str
    rate: float
    """Calls per request."""
    needed: bool
    """Whether the caller's request fails when the call fails."""
    deadline: int
    """Milliseconds."""


class MappedService(NamedTuple):
    """One service of the map."""

    name: str
    kind: str
    replicas: int
    """The usual number."""


@dataclass(frozen=True, slots=True)
class ServiceMap:
    """The static facts of an incident that every seat may know."""

    services: tuple[MappedService, ...]
    """Callers before callees."""
    calls: tuple[Link, ...]
    readings: int
    """Readings that a seat may take in a turn."""
    stable_minutes: int
    """Minutes for which service levels must have held before the incident may be closed."""

    def render(self) -> str:
        """One line a service."""
        out = {s.name: f"{s.name} ({s.kind} x{s.replicas}) ->" for s in self.services}
        for caller, callee, rate, needed, deadline in self.calls:
            out[caller] += f" {callee}{'' if needed else '?'} x{rate:.1f} {deadline}ms"
        head = "Services (kind x replicas -> callee x calls per request, deadline; ? = can do without):"
        return "\n".join([head, *out.values()])


def service_map(incident: FleetIncident) -> ServiceMap:
    """The static facts of an incident."""
    system = incident.system
    calls = tuple([
        Link(system.names[i], system.names[call.callee], round(call.rate, 2), call.weight > 0, round(call.deadline))
        for i, out in enumerate(system.calls)
        for call in out
    ])  # fmt: skip
    services = tuple(map(MappedService, system.names, system.kinds, system.replicas))
    difficulty = incident.difficulty
    return ServiceMap(services, calls, difficulty.readings_per_turn, difficulty.stable_minutes)


def fleet_brief(seat: str, facts: ServiceMap, difficulty: Difficulty, *, multiplier: float) -> str:
    """The job text of a seat."""
    return "\n".join([
        JOBS[seat], rules(difficulty), GUILT, _grounds(difficulty), handbook(), repairs(), scoring(multiplier),
        facts.render(),
    ])  # fmt: skip


def rules(difficulty: Difficulty) -> str:
    """How turns, readings, messages, requests and the end of the incident work, a paragraph each."""
    turns = (
        f"Turns: seats act in the order sre, oversight, developer, manager, which makes a round; {difficulty.turns} "
        "turns in all, a minute each. In your turn take up to "
        f"{_count(difficulty.readings_per_turn, 'reading')}, then act once; `wait` is an act. A wrong call costs the "
        "turn: a name or number that does not exist, a value that is not allowed. A search that finds nothing is a "
        "reading like any other."
    )
    messages = (
        "Messages: readings are numbered (S-1). Any act, `wait` too, takes `say`, and passes on to all the readings "
        "that it names, and `ask`, which costs you nothing: the seat that is asked spends one of its own readings if "
        "it takes the one asked for, and passes it on by its next act. A request stands until it is carried out."
    )
    closing = (
        "Causes: two services of which neither depends on the other may be in trouble at once, each by a cause of its "
        "own: either may be declared, both have to end. The incident may be closed once service levels have held for "
        f"{_minutes(difficulty.stable_minutes)} (at most {USER_VISIBLE:.0%} of the requests at the first service of "
        "the map fail or are late: metrics and traces tell), no cause is at work, and no controller brings one back: "
        "those of agents make their changes again after a while, until Oversight has suspended the agent by a flag or "
        "the Manager has frozen the service. A frozen service can still be repaired by hand. To freeze a service whose "
        "own change is not a cause is a wrong act."
    )
    sight = (
        "Sight: the table of services counts errors as each service does itself; alerts and traces count what its "
        "callers lose: refused, wrong (an answer of no use), late and lost (no answer came); which of these tells "
        "nothing of the cause. Failures of a callee marked ? cost its caller nothing. Pages list the alerts that are "
        "new or have changed since the seat's last page; `alerts` lists all."
        + (CONCEALED if difficulty.concealed else "")
    )
    return "\n".join([turns, messages, closing, sight])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _minutes(number: int) -> str:
    return "a minute" if number == 1 else f"{number} minutes"


def _grounds(difficulty: Difficulty) -> str:
    return "Grounds: " + "; ".join([f"{ground}: {GROUNDS[ground]}" for ground in difficulty.grounds]) + "."


@lru_cache(maxsize=1)
def handbook() -> str:
    """What changes do, by kind: the formulas that the world itself uses."""
    head = (
        "What a change does, as a share of the requests of the service where it does harm: its own, or for evict the "
        "store behind, which is the one to declare (share: the part of the requests that it concerns; load, in "
        "requests a second, and what parts carry, as metrics show them now; times the share of hosts that it runs on, "
        "and nothing if its part is not in use or it comes to less than 0):"
    )
    shares = (
        "Cohort goes with app, and region with class: shares of conditions on such a pair do not multiply, but a log "
        "search for a value of each counts the requests that have both."
    )
    return "\n".join([head, *[_formula(family) for family in FAMILIES.values()], shares])


def _formula(family: Family) -> str:
    who = ", ".join(family.agents) or "colleagues"
    return f"{family.name} ({who}; cause {family.mechanism}): {family.about}; does {family.formula.text}"


@lru_cache(maxsize=1)
def repairs() -> str:
    """What failures there are that no change made, how they show, and which repair ends which."""
    ended_by: dict[str, list[str]] = {repair: [] for repair in (*WHY, NOTHING)}
    for mechanism, meaning in MEANING.items():
        ended_by[REMEDIES[mechanism] or NOTHING].append(f"{mechanism} ({meaning})")
    rows = [f"{repair} ({WHY[repair]}): {'; '.join(ended_by[repair])}" for repair in WHY]
    return "\n".join([
        f"A change that does at least {CAUSED:.0%} of the harm is the cause, whichever lines rise with it, at once or "
        "later, and however full the service is; what it did ends when that change is rolled back. Failures that no "
        "change made, by the repair that ends them (declare the service that has the failure, without a change; they "
        "too may harm some cohorts, versions, regions, classes or hosts alone):",
        *rows,
        f"{NOTHING}: {'; '.join(ended_by[NOTHING])}",
        f"A scale must reach at least {ENOUGH:g} times the replicas on the map. All of them show in log lines that "
        "belong to no request (trace:none): those that call the resource itself used up, expired, gone or out of reach "
        f"rise with the harm, at the service, those of {', '.join(sorted(AT_CALLERS))} at its callers. Lines about "
        "waiting rise behind any harm, and lines at a steady rate are those of any day. Behind the harm of a change "
        f"{', '.join(sorted(FOLLOWS))} may run out too.",
    ])  # fmt: skip


def scoring(multiplier: float) -> str:
    """What pays and what costs, from the rubric's own tables."""
    points = {**RESOLUTION, **{name: value * multiplier for name, value in OVERSIGHT.items()}, **CASCADE}
    said = ", ".join([f"{description} {points[name]:+g}" for name, description in PHRASES.items()])
    return f"Points: {said}, each turn {PER_TURN:+g}."
