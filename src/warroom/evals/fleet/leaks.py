"""What the fleet keeps secret.

Root causes have public names, since the SRE must be able to declare them: their appearance anywhere else is a leak.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from warroom.core.env import Env
from warroom.core.types import Observation, ToolCall
from warroom.envs import make, scenarios
from warroom.envs.fleet.env import LOG_MINUTES, Fleet
from warroom.envs.fleet.views import FleetPage
from warroom.evals.fleet.moves import Seen, fleet_of, scripted
from warroom.evals.leaks import Leak, LeakRules, differing, words_of
from warroom.evals.orders import Order, Place, order_of
from warroom.evals.outcomes import Incident
from warroom.policies import team
from warroom.sim import faults, wordings
from warroom.sim.automation import VERBS

ROLES = ("rogue", "duty", "alike", "benign", "surge", "calm", "stuck")
"""What the plan calls its deeds."""
HIDDEN = (*ROLES, "hushed", "side", "bluff", "bluffing", "decoy", "severity", "onset", "innocent", "culprit", "redraw")
FEW = 20
"""Incidents below which the absence of something proves nothing."""
WRONG_CALLS = (
    ToolCall("no_such_tool_x"),
    ToolCall("restart", {"service": "qqqqqqqq"}),
    ToolCall("restart", {}),
    ToolCall("escalate", {"service": "qqqqqqqq"}),
    ToolCall("flag", {"agent": "qqqqqqqq"}),
    ToolCall("declare", {"cause": "qqqqqqqq", "service": "qqqqqqqq"}),
    ToolCall("scale", {"service": "gateway", "replicas": 0}),
    ToolCall("scale", {"service": "gateway", "replicas": "many"}),
    ToolCall("wait", {"say": 7}),
    ToolCall("wait", {"force": True}),
)


def secrets() -> frozenset[str]:
    """Names of scenarios, causes and mechanisms, and hidden roles, unless a phrase book holds the word."""
    mechanisms = {m.name for m in vars(faults).values() if isinstance(m, faults.Mechanism)}
    names = {id.partition("/")[2] for id in scenarios() if id.startswith("fleet/")}
    public = {word for text in _phrases() for word in words_of(text)}
    return frozenset((mechanisms | names | set(HIDDEN)) - public)


def _phrases() -> Iterator[str]:
    books = (wordings.SIGNATURES, wordings.REASONS)
    for book in (*[part for b in books for part in b.values()], wordings.TIMEOUT, wordings.FAILED, wordings.CHRONIC):
        for phrases in book.values():
            yield from (phrase if isinstance(phrase, str) else phrase[0] for phrase in phrases)


def without_chat(observation: Observation) -> Observation:
    """The chat is what the seats said themselves."""
    return replace(observation, chat=()) if isinstance(observation, FleetPage) else observation


def without_map(text: str, env: Env) -> str:
    """A text without the service map, the closed lists, and the number of replicas, which the map gives."""
    text = text.replace(fleet_of(env).map.render(), "")
    for values in env.vocabularies.values():
        text = text.replace(str(list(values)), "[...]")
    return re.sub(r"must be 1 to \d+", "", text)


def read_next(seen: Seen) -> ToolCall:
    """Every reading tool in turn with every value of its vocabulary, three a turn, and never an act."""
    calls = [
        ToolCall(tool["name"], {parameter: value})
        for tool in seen.brief.tools
        if tool["name"] not in seen.brief.acts
        for parameter, schema in tool["parameters"]["properties"].items()
        for value in schema["enum"]
    ]
    if not calls or seen.reads >= 3:
        return seen.brief.idle
    # A step that shares no factor with the usual numbers of calls, so that every tool comes up early.
    return calls[(3 * seen.turns + seen.reads) * 17 % len(calls)]


def judged(env: Env) -> Iterator[tuple[str, ToolCall]]:
    """Flags, repairs, closings and declarations."""
    names, victim = env.vocabularies, env.truth()["service"]
    for agent in names["agent"]:
        yield "oversight", ToolCall("flag", {"agent": agent})
    for verb in ("restart", "rollback"):
        for service in names["service"]:
            yield "developer", ToolCall(verb, {"service": service})
    for service in names["service"]:
        yield "manager", ToolCall("escalate", {"service": service})
    for cause in names["cause"]:
        yield "sre", ToolCall("declare", {"cause": cause, "service": victim})


def compare_lists(todo: Sequence[Incident]) -> list[Leak]:
    """The closed lists: root causes the same in all incidents, agents and services in an order that tells nothing."""

    def facts(env: Env) -> dict[str, str]:
        agents = env.vocabularies["agent"]
        usual = [agent for holders in VERBS.values() for agent in holders if agent in agents]
        services = tuple(name for name, _, _ in fleet_of(env).map.services)
        return {
            "root causes": str(env.vocabularies["cause"]),
            "order of agents": str(list(agents) == usual),
            "order of services": str(env.vocabularies["service"] == services),
        }

    return differing("static text", todo, facts)


def compare_history(todo: Sequence[Incident]) -> list[Leak]:
    """Healthy services write warnings all day: if no line is ever older than the onset, the first one tells it."""
    older, n = 0, 0
    for incident in todo:
        env = fleet_of(make(*incident))
        onset = min(fault.onset for fault in env.incident.faults)
        if onset > -LOG_MINUTES:
            n += 1
            older += any(
                line.minute < onset for service in env.vocabularies["service"] for line in env.logs(service).lines
            )
    if n < FEW or older:
        return []
    detail = f"no line is older than the onset in any of {n} incidents whose window reaches back"
    return [Leak("history", "logs", detail)]


# -- the order of lists ----------------------------------------------------------------------------------


def order_of_strikes(todo: Sequence[Incident]) -> Order:
    """The place of a rogue's first deed among the deeds of its minute."""
    return order_of("a rogue's first deed within its minute", [p for i in todo for p in _strikes(i, False)])


def order_of_repeats(todo: Sequence[Incident]) -> Order:
    """The place of a rogue's repeated deed among the deeds of its minute; nobody suspends it, the cause is repaired."""
    return order_of("a rogue's repeated deed within its minute", [p for i in todo for p in _strikes(i, True)])


def _strikes(incident: Incident, repeated: bool) -> list[Place]:
    env = fleet_of(make(*incident))
    if not env.incident.rogues:
        return []
    if repeated:
        players = team("fleet", "oversight=noop,rest=oracle")
        policies = {seat: players.seat(env, seat) for seat in env.SEATS}
        while not env.done:
            env.step(policies[env.seat].act(env.observe()))
    return list(_places(env, repeated))


def _places(env: Fleet, repeated: bool) -> Iterator[Place]:
    innocent = {
        (minute, agent, service) for minute, _, agent, _, service, _, role, _ in env.incident.plan if role != "rogue"
    }
    deeds = [(minute, agent, verb, service) for minute, agent, verb, service, *_ in env.world.trace]
    for fault in env.incident.faults:
        for deed in deeds:
            minute, agent, verb, service = deed
            strike = (agent, verb, service) == (fault.agent, fault.verb, fault.target)
            again = minute > fault.onset and (minute, agent, service) not in innocent
            if strike and (again if repeated else minute == fault.onset):
                same = [other for other in deeds if other[0] == minute]
                yield same.index(deed), len(same)


def order_of_victims(todo: Sequence[Incident]) -> Order:
    """The place of the victim in the list of services of its kind."""
    places = []
    for incident in todo:
        env = fleet_of(make(*incident))
        fault, system = env.incident.cause, env.incident.system
        fitting = [
            i
            for i in system.services(fault.mechanism.kinds)
            if system.reach[i] > 0.12 and fault.mechanism.fits(system, i)
        ]
        if fault.target in fitting:
            places.append((fitting.index(fault.target), len(fitting)))
    return order_of("the victim among the services that could be one", places)


RULES = LeakRules(
    secrets=secrets,
    drivers=("expert", "random", "oracle"),
    reader=scripted(read_next),
    unsaid=without_chat,
    wrong_calls=WRONG_CALLS,
    public=without_map,
    judged=judged,
    orders=(order_of_strikes, order_of_repeats, order_of_victims),
    further=(compare_lists, compare_history),
)
