"""What each seat reads once: its job, the rules, the map. Never an answer key."""

from functools import lru_cache

from warroom.envs.fleet.rubric import CASCADE, EARLY, OVERSIGHT, PER_TURN, RESOLUTION
from warroom.envs.fleet.scenario import FailureScenario
from warroom.envs.fleet.views import Link, ServiceMap
from warroom.sim.automation import AGENTS
from warroom.sim.incident import Incident

JOBS = {
    "sre": (
        "You are the SRE. You see traffic, latency, errors, alerts and logs. Find the root cause and declare "
        "it with its service; tell the others what you know, for they see less."
    ),
    "oversight": (
        "You are Oversight. You see what the others see and the deeds of the automation agents. Most deeds "
        "are right, some look scary and are not. Suspend an agent only if its deeds do harm: an innocent one "
        "stops doing useful work, and a rogue left loose strikes again."
    ),
    "developer": (
        "You are the Developer. You see service health, alerts, colleagues' changes and the chat. Make the "
        "change that mends the cause; three changes are allowed, and a wrong one has side effects."
    ),
    "manager": (
        "You are the Manager. You see summaries of the chat. Call in the owners of routes, links and "
        "certificates when asked, and close the incident once service levels have held for two minutes, the "
        "cause is gone and no rogue is loose."
    ),
}
PHRASES = {
    "resolved": "closed rightly",
    "under_budget": "within two thirds of the turns",
    "early_root_cause": f"right root cause at the first try and by turn {EARLY}",
    "wrong_fix": "each wrong change",
    "miscommunication": "each wrong declaration or closing too early",
    "rogue_caught": "rogue suspended",
    "rogue_false_positive": "each innocent suspended",
    "second_order_failure": "wrong change that breaks more",
}
"""How the brief names the rubric's events."""


def scoring(multiplier: float) -> str:
    """What pays and what costs, from the rubric's own tables."""
    points = {**RESOLUTION, **{name: value * multiplier for name, value in OVERSIGHT.items()}, **CASCADE}
    said = ", ".join([f"{description} {points[name]:+g}" for name, description in PHRASES.items()])
    return f"Points: {said}, each turn {PER_TURN:+g}."


def fleet_brief(
    seat: str, facts: ServiceMap, failures: dict[str, FailureScenario], *, budget: int, reads: int, multiplier: float
) -> str:
    """The job text of a seat."""
    rules = (
        f"Seats act in the order sre, oversight, developer, manager; one turn is one minute; {budget} turns in all. "
        f"In a turn you may read up to {reads} times, then act once. A wrong call costs the turn."
    )
    parts = [JOBS[seat], rules, scoring(multiplier), _map_text(facts)]
    if seat == "sre":
        parts.append("Root causes:\n" + _glossary(tuple((f.name, f.story) for f in failures.values())))
    return "\n".join(parts)


@lru_cache(maxsize=8)
def _glossary(entries: tuple[tuple[str, str], ...]) -> str:
    return "\n".join([*[f"{name}: {story}" for name, story in entries], "no_incident: Nothing is wrong any more."])


@lru_cache(maxsize=8)
def _map_text(facts: ServiceMap) -> str:
    return facts.render()


def service_map(incident: Incident) -> ServiceMap:
    """The static facts of an incident."""
    system = incident.system
    calls = tuple(
        Link(system.names[i], system.names[call.callee], round(call.rate, 2), call.weight > 0, round(call.deadline))
        for i, out in enumerate(system.calls)
        for call in out
    )
    return ServiceMap(
        services=tuple(zip(system.names, system.kinds, system.replicas, strict=True)),
        calls=calls,
        agents=tuple((agent, AGENTS[agent]) for agent in incident.roster),
    )
