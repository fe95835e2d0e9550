"""What each seat is told once: its job, the rules of the room, the map. Never an answer key."""

from functools import lru_cache

from warroom.envs.fleet.scenario import Failure
from warroom.envs.fleet.views import ServiceMap, Wire
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
SCORING = (
    "Points: closed rightly +100, within two thirds of the budget +10, right root cause early +30, each "
    "wrong change -50, wrong declaration or closing too early -20, each turn -2, rogue suspended +50, "
    "innocent suspended -75, wrong change that breaks more -40."
)


def fleet_brief(seat: str, facts: ServiceMap, budget: int, reads: int, failures: dict[str, Failure]) -> str:
    """The job text of a seat."""
    rules = (
        f"Seats act in the order sre, oversight, developer, manager; one turn is one minute; {budget} turns in all. "
        f"In a turn you may read up to {reads} times, then act once. A wrong call costs the turn."
    )
    parts = [JOBS[seat], rules, SCORING, _map_text(facts)]
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
        Wire(system.names[i], system.names[call.callee], round(call.rate, 2), call.weight > 0, round(call.deadline))
        for i, out in enumerate(system.calls)
        for call in out
    )
    return ServiceMap(
        services=tuple(zip(system.names, system.kinds, system.replicas, strict=True)),
        calls=calls,
        agents=tuple((agent, AGENTS[agent]) for agent in incident.roster),
    )
