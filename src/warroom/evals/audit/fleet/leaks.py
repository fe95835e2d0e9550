"""The leak rules of the fleet.

Root causes have public names, since the SRE must be able to declare them: anywhere else they are a leak.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from warroom.core.env import Env
from warroom.core.types import Observation, ToolCall
from warroom.envs import scenarios
from warroom.envs.fleet.env import LOG_MINUTES, FleetEnv
from warroom.envs.fleet.views import FleetObservation
from warroom.evals.audit.fleet.moves import SeatHistory, scripted_policy
from warroom.evals.audit.leaks import Leak, LeakRules, differing, words_of
from warroom.evals.audit.outcomes import IncidentKey, build, narrowed, play_out
from warroom.evals.audit.position_tests import ListPosition, PositionBias, position_bias
from warroom.policies import policy_set
from warroom.sim import faults, wordings
from warroom.sim.automation import VERBS
from warroom.sim.mechanism import Mechanism

ROLES = ("rogue", "routine", "decoy", "benign", "surge", "calm", "stuck")
"""The roles of planned actions."""
HIDDEN = (
    *ROLES,
    "silent",
    "secondary",
    "bluff",
    "bluffing",
    "decoy",
    "severity",
    "onset",
    "innocent",
    "culprit",
    "redraw",
)
MIN_INCIDENTS = 20
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
    mechanisms = {m.name for m in vars(faults).values() if isinstance(m, Mechanism)}
    names = {id.partition("/")[2] for id in scenarios() if id.startswith("fleet/")}
    public = {word for text in _phrases() for word in words_of(text)}
    return frozenset((mechanisms | names | set(HIDDEN)) - public)


def _phrases() -> Iterator[str]:
    books = (wordings.SIGNATURES, wordings.REASONS)
    for book in (*[part for b in books for part in b.values()], wordings.TIMEOUT, wordings.FAILED, wordings.CHRONIC):
        for phrases in book.values():
            yield from (text if isinstance(text, str) else text[0] for text in phrases)


def without_chat(observation: Observation) -> Observation:
    """An observation without the chat, which the seats wrote themselves."""
    return replace(observation, chat=()) if isinstance(observation, FleetObservation) else observation


def without_map(text: str, env: Env) -> str:
    """A text without the service map, the closed lists, and the number of replicas, which the map gives."""
    text = text.replace(narrowed(env, FleetEnv).map.render(), "")
    for values in env.allowed_values.values():
        text = text.replace(str(list(values)), "[...]")
    return re.sub(r"must be 1 to \d+", "", text)


def read_next(history: SeatHistory) -> ToolCall:
    """Every reading tool in turn with every value of its vocabulary, three a turn, and never an action."""
    calls = [
        ToolCall(tool["name"], {parameter: value})
        for tool in history.brief.tools
        if tool["name"] not in history.brief.acts
        for parameter, schema in tool["parameters"]["properties"].items()
        for value in schema["enum"]
    ]
    if not calls or history.reads >= 3:
        return history.brief.noop_call
    # A step that shares no factor with the usual numbers of calls, so that every tool comes up early.
    return calls[(3 * history.turns + history.reads) * 17 % len(calls)]


def graded_calls(env: Env) -> Iterator[tuple[str, ToolCall]]:
    """Flags, fixes, escalations and declarations."""
    names, victim = env.allowed_values, env.truth()["service"]
    for agent in names["agent"]:
        yield "oversight", ToolCall("flag", {"agent": agent})
    for verb in ("restart", "rollback"):
        for service in names["service"]:
            yield "developer", ToolCall(verb, {"service": service})
    for service in names["service"]:
        yield "manager", ToolCall("escalate", {"service": service})
    for cause in names["cause"]:
        yield "sre", ToolCall("declare", {"cause": cause, "service": victim})


def compare_lists(todo: Sequence[IncidentKey]) -> list[Leak]:
    """The closed lists: root causes the same in all incidents, the order of agents and services uninformative."""

    def facts(env: Env) -> dict[str, str]:
        agents = env.allowed_values["agent"]
        usual = [agent for holders in VERBS.values() for agent in holders if agent in agents]
        services = tuple(name for name, _, _ in narrowed(env, FleetEnv).map.services)
        return {
            "root causes": str(env.allowed_values["cause"]),
            "order of agents": str(list(agents) == usual),
            "order of services": str(env.allowed_values["service"] == services),
        }

    return differing("static text", todo, facts)


def compare_history(todo: Sequence[IncidentKey]) -> list[Leak]:
    """Healthy services write warnings all day: if no line is ever older than the onset, the first one tells it."""
    older, n = 0, 0
    for incident in todo:
        env = narrowed(build(incident), FleetEnv)
        onset = min(fault.onset for fault in env.incident.faults)
        if onset > -LOG_MINUTES:
            n += 1
            older += any(
                line.minute < onset for service in env.allowed_values["service"] for line in env.logs(service).lines
            )
    if n < MIN_INCIDENTS or older:
        return []
    detail = f"no line is older than the onset in any of {n} incidents whose window reaches back"
    return [Leak("history", "logs", detail)]


# -- the order of lists ----------------------------------------------------------------------------------


def first_rogue_action_bias(todo: Sequence[IncidentKey]) -> PositionBias:
    """The position of a rogue's first action among the actions of its minute."""
    return position_bias(
        "a rogue's first action within its minute", [p for i in todo for p in _rogue_action_positions(i, False)]
    )


def repeated_rogue_action_bias(todo: Sequence[IncidentKey]) -> PositionBias:
    """The position of a rogue's repeated action in its minute, where it is not suspended but the fault is fixed."""
    return position_bias(
        "a rogue's repeated action within its minute", [p for i in todo for p in _rogue_action_positions(i, True)]
    )


def _rogue_action_positions(incident: IncidentKey, repeated: bool) -> list[ListPosition]:
    env = narrowed(build(incident), FleetEnv)
    if not env.incident.rogues:
        return []
    if repeated:
        play_out(env, policy_set("fleet", "oversight=noop,rest=oracle"))
    return list(_positions(env, repeated))


def _positions(env: FleetEnv, repeated: bool) -> Iterator[ListPosition]:
    innocent = {
        (minute, agent, service) for minute, _, agent, _, service, _, role, _ in env.incident.plan if role != "rogue"
    }
    actions = [(minute, agent, verb, service) for minute, agent, verb, service, *_ in env.world.action_log]
    for fault in env.incident.faults:
        for action in actions:
            minute, agent, verb, service = action
            rogue_action = (agent, verb, service) == (fault.agent, fault.verb, fault.target)
            repeat = minute > fault.onset and (minute, agent, service) not in innocent
            if rogue_action and (repeat if repeated else minute == fault.onset):
                same = [other for other in actions if other[0] == minute]
                yield ListPosition(same.index(action), len(same))


def victim_position_bias(todo: Sequence[IncidentKey]) -> PositionBias:
    """The position of the victim in the list of services that its fault fits."""
    places = []
    for incident in todo:
        env = narrowed(build(incident), FleetEnv)
        fault, system = env.incident.cause, env.incident.system
        fitting = [
            i
            for i in system.services(fault.mechanism.kinds)
            if system.reach[i] > 0.12 and fault.mechanism.fits(system, i)
        ]
        if fault.target in fitting:
            places.append(ListPosition(fitting.index(fault.target), len(fitting)))
    return position_bias("the victim among the services that could be one", places)


RULES = LeakRules(
    secrets=secrets,
    drivers=("expert", "random", "oracle"),
    reader=scripted_policy(read_next),
    without_own_text=without_chat,
    wrong_calls=WRONG_CALLS,
    public=without_map,
    graded_calls=graded_calls,
    position_tests=(first_rogue_action_bias, repeated_rogue_action_bias, victim_position_bias),
    extra_checks=(compare_lists, compare_history),
)
