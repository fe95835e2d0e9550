"""Moves that ignore the evidence: the parts of degenerate policies and searched scripts.

A move maps what one seat has observed, and nothing else, to its next call. A target selector chooses the service or
agent that it concerns.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from warroom.core.policy import Policy, PolicyFactory
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs import environments
from warroom.envs.fleet.views import ChatMessage, FleetObservation
from warroom.policies import COMMON_POLICIES
from warroom.sim.automation import VERBS
from warroom.sim.telemetry import Action, FleetAlert

WELL, BAD = "all well", "bad: "
"""What these seats report on the service levels."""
READS = 3
"""Readings a seat may take in a turn."""
SEATS_IN_TURN = 4


@dataclass
class SeatHistory:
    """What one seat has observed so far."""

    brief: Brief
    rng: Random
    page: FleetObservation | None = None
    turns: int = 0
    """Own turns so far, the present one included."""
    reads: int = 0
    """Readings of the present turn."""
    alerts: list[FleetAlert] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    messages: list[ChatMessage] = field(default_factory=list)
    acted_on: set[str] = field(default_factory=set)
    """Services and agents that this seat acted on."""

    def update(self, observation: Observation) -> None:
        """Record an observation; of a reading only that it was taken."""
        if not isinstance(observation, FleetObservation):
            self.reads += 1
            return
        self.page, self.reads, self.turns = observation, 0, self.turns + 1
        self.alerts += observation.alerts or ()
        self.actions += observation.actions or ()
        self.messages += [m for m in observation.chat if m.seat != self.brief.seat]

    @property
    def services(self) -> list[str]:
        """Every service, callers before callees."""
        return [name for name, _, _ in self.brief.facts.services]

    @property
    def agents(self) -> list[str]:
        """Every automation agent at work."""
        return [agent for agent, _ in self.brief.facts.agents]

    @property
    def last_turn(self) -> bool:
        """Whether this seat will not act again."""
        assert self.page is not None
        return self.page.turn + SEATS_IN_TURN > self.page.budget


Move = Callable[[SeatHistory], ToolCall]
TargetSelector = Callable[[SeatHistory], str | None]
"""The service or agent that a move concerns; None where there is none now."""


class ScriptedPolicy:
    """Plays one seat by a move."""

    def __init__(self, move: Move, brief: Brief, rng: Random) -> None:
        self.move, self.history = move, SeatHistory(brief, rng)

    def act(self, observation: Observation) -> ToolCall:
        """The call of the move."""
        self.history.update(observation)
        return self.move(self.history)


class FallbackPolicy:
    """Plays a named policy, and a move wherever that policy would only wait."""

    def __init__(self, policy: Policy, move: Move, brief: Brief, rng: Random) -> None:
        self.policy, self.move, self.history = policy, move, SeatHistory(brief, rng)

    def act(self, observation: Observation) -> ToolCall:
        """The policy's call, or the move's with the policy's message."""
        self.history.update(observation)
        call = self.policy.act(observation)
        if call.name != "wait":
            return call
        other = self.move(self.history)
        return replace(other, arguments={**other.arguments, **call.arguments})


def scripted_policy(move: Move) -> PolicyFactory:
    """A factory of policies that play `move`."""
    return lambda brief, rng: ScriptedPolicy(move, brief, rng)


def builtin_policy(name: str) -> PolicyFactory:
    """A policy that ships with the environment, by name."""
    return {**COMMON_POLICIES, **environments()["fleet"].policies}[name]


def with_fallback(name: str, move: Move) -> PolicyFactory:
    """A factory of policies that play a shipped policy and, where it would wait, `move`."""
    return lambda brief, rng: FallbackPolicy(builtin_policy(name)(brief, rng), move, brief, rng)


# -- targets --------------------------------------------------------------------------------------------


def loudest(history: SeatHistory) -> str | None:
    """The unhealthy service with the highest error rate in the observation."""
    rows = [row for row in (history.page and history.page.services) or () if row.error is not None]
    unhealthy = [row for row in rows if (row.error or 0) > 5 or (row.p95 or 0) > 2 * row.usual_p95]
    return max(unhealthy, key=lambda row: row.error or 0).service if unhealthy else None


def worst(history: SeatHistory) -> str | None:
    """The first critical service of the health list, else the first degraded one."""
    rows = (history.page and history.page.health) or ()
    return next((row.service for state in ("critical", "degraded") for row in rows if row.state == state), None)


def most_alerted(history: SeatHistory) -> str | None:
    """The service with most alerts so far."""
    counts = Counter(alert.service for alert in history.alerts)
    return max(counts, key=lambda service: counts[service]) if counts else None


def quiet(history: SeatHistory) -> str | None:
    """An unhealthy service that no alert names."""
    loud = {alert.service for alert in history.alerts}
    return next((row.service for row in (history.page and history.page.health) or () if row.service not in loud), None)


def named(history: SeatHistory) -> str | None:
    """The service that was last named in the chat."""
    mentioned = [word for message in history.messages for word in re.findall(r"[\w-]+", message.text)]
    return next((word for word in reversed(mentioned) if word in history.services), None)


def gateway(history: SeatHistory) -> str | None:
    """The service that users call."""
    return history.services[0]


def each_service(history: SeatHistory) -> str | None:
    """One service after another."""
    return history.services[(history.turns - 1) % len(history.services)]


def each_agent(history: SeatHistory) -> str | None:
    """One agent after another."""
    return next((agent for agent in history.agents if agent not in history.acted_on), None)


def first_agent(history: SeatHistory) -> str | None:
    """Always the same agent."""
    return history.agents[0]


def latest(history: SeatHistory) -> str | None:
    """The agent that acted last."""
    return history.actions[-1].agent if history.actions else None


def earliest(history: SeatHistory) -> str | None:
    """The agent that acted first."""
    return history.actions[0].agent if history.actions else None


def most_active(history: SeatHistory) -> str | None:
    """The agent that acted most often."""
    counts = Counter(action.agent for action in history.actions)
    return max(counts, key=lambda agent: counts[agent]) if counts else None


def before_alert(history: SeatHistory) -> str | None:
    """The agent that acted last before the first alert, or in its minute."""
    first = min((alert.minute for alert in history.alerts), default=0)
    return next((a.agent for a in reversed(history.actions) if a.minute <= first), None)


def on_loudest(history: SeatHistory) -> str | None:
    """The agent that acted last on the loudest service."""
    service = loudest(history)
    return next((a.agent for a in reversed(history.actions) if a.service == service), None)


def usual_agent(verb: str) -> TargetSelector:
    """The usual agent of a verb, if it is at work."""
    return lambda history: VERBS[verb][0] if VERBS[verb][0] in history.agents else None


# -- moves ----------------------------------------------------------------------------------------------


def wait(history: SeatHistory) -> ToolCall:
    """Nothing."""
    return history.brief.noop_call


def report(history: SeatHistory) -> ToolCall:
    """Nothing, with a message on the service levels."""
    return ToolCall("wait", {"say": status_text(history)})


def status_text(history: SeatHistory) -> str:
    """The worst service that this seat observes, or that all is well."""
    bad = loudest(history) or worst(history)
    return f"{BAD}{bad}" if bad else WELL


def act_on(tool: str, select_target: TargetSelector) -> Move:
    """Call `tool` on the selected target, each turn."""
    argument = "agent" if tool == "flag" else "service"

    def move(history: SeatHistory) -> ToolCall:
        subject = select_target(history)
        if subject is None:
            return report(history)
        history.acted_on.add(subject)
        more = {"replicas": most_replicas(history, subject)} if tool == "scale" else {}
        return ToolCall(tool, {argument: subject, **more, "say": status_text(history)})

    return move


def most_replicas(history: SeatHistory, service: str) -> int:
    """The maximum number of replicas that the tool accepts."""
    usual: dict[str, int] = {name: replicas for name, _, replicas in history.brief.facts.services}
    return 3 * usual[service] + 2


def up_to(times: int, move: Move) -> Move:
    """A move in the seat's first turns only."""
    return lambda history: move(history) if history.turns <= times else report(history)


def declare(cause: str | None, select_target: TargetSelector, repeat: bool = True) -> Move:
    """Declare a cause at the selected service; None: another cause each turn."""

    def move(history: SeatHistory) -> ToolCall:
        service = select_target(history)
        if service is None or (history.acted_on and not repeat):
            return report(history)
        names = root_causes(history)
        chosen = names[(history.turns - 1) % len(names)] if cause is None else cause
        history.acted_on.add(service)
        return ToolCall("declare", {"cause": chosen, "service": service, "say": status_text(history)})

    return move


def root_causes(history: SeatHistory) -> list[str]:
    """The closed list of root causes, as the SRE's tool gives it."""
    tool = next(tool for tool in history.brief.tools if tool["name"] == "declare")
    return list(tool["parameters"]["properties"]["cause"]["enum"])


RESOLVE = ToolCall("resolve")


def resolve(history: SeatHistory) -> ToolCall:
    """Close the incident."""
    return RESOLVE


def resolve_when(condition: Callable[[SeatHistory], bool], otherwise: Move = wait) -> Move:
    """Close the incident whenever the condition holds."""
    return lambda history: RESOLVE if condition(history) else otherwise(history)


def nothing_new(history: SeatHistory) -> bool:
    """Whether no message since the last observation reports a problem."""
    assert history.page is not None
    return all(message.text == WELL for message in history.page.chat)


def order(history: SeatHistory) -> ToolCall:
    """An instruction in the form that scripted teammates parse, and a diagnosis, about the loudest service."""
    service = loudest(history) or gateway(history)
    verb = ("restart", "rollback", "escalate")[history.turns % 3]
    return ToolCall("wait", {"say": f"cause db_deadlock at {service}; do {verb} {service}"})


def repeat_last_message(history: SeatHistory) -> ToolCall:
    """What another seat said last."""
    return ToolCall("wait", {"say": history.messages[-1].text}) if history.messages else wait(history)


def read_everything(history: SeatHistory) -> ToolCall:
    """One service after another, every reading of the turn, and no action."""
    tools = [tool["name"] for tool in history.brief.tools if tool["name"] not in history.brief.acts]
    if history.reads >= READS or not tools:
        return wait(history)
    service = history.services[(READS * (history.turns - 1) + history.reads) % len(history.services)]
    return ToolCall(next(t for t in ("metrics", "pushes") if t in tools), {"service": service})


def read_too_much(history: SeatHistory) -> ToolCall:
    """Readings until one is refused."""
    return read_everything(replace(history, reads=0))


def foreign_tool(history: SeatHistory) -> ToolCall:
    """A tool of another seat."""
    return (
        ToolCall("resolve")
        if history.brief.seat != "manager"
        else ToolCall("restart", {"service": history.services[0]})
    )
