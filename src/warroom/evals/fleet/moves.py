"""Moves that weigh no evidence: what degenerate teams and searched scripts are put together from.

A move maps what one seat has seen, and nothing else, to its next call. A choice picks whom it concerns.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from warroom.core.env import Env
from warroom.core.scenario import Policy, PolicyMaker
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs import environments
from warroom.envs.fleet.env import Fleet
from warroom.envs.fleet.views import FleetPage, Message
from warroom.policies import EVERYWHERE
from warroom.sim.automation import VERBS
from warroom.sim.telemetry import Action, Alert

WELL, BAD = "all well", "bad: "
"""What these seats say of the service levels."""
READS = 3
"""Readings a seat may take in a turn."""
SEATS_IN_TURN = 4


@dataclass
class Seen:
    """What one seat has seen so far."""

    brief: Brief
    rng: Random
    page: FleetPage | None = None
    turns: int = 0
    """Own turns so far, the present one included."""
    reads: int = 0
    """Readings of the present turn."""
    alerts: list[Alert] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    heard: list[Message] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)
    """What this seat acted on."""

    def take(self, observation: Observation) -> None:
        """Remember a page; of a reading only that it was taken."""
        if not isinstance(observation, FleetPage):
            self.reads += 1
            return
        self.page, self.reads, self.turns = observation, 0, self.turns + 1
        self.alerts += observation.alerts or ()
        self.actions += observation.actions or ()
        self.heard += [m for m in observation.chat if m.seat != self.brief.seat]

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


Move = Callable[[Seen], ToolCall]
Choice = Callable[[Seen], str | None]
"""Whom a move concerns; None: nobody now."""


class Scripted:
    """Plays one seat by a move."""

    def __init__(self, move: Move, brief: Brief, rng: Random) -> None:
        self.move, self.seen = move, Seen(brief, rng)

    def act(self, observation: Observation) -> ToolCall:
        """What the move says."""
        self.seen.take(observation)
        return self.move(self.seen)


class Beside:
    """Plays a named policy, and a move wherever that policy would only wait."""

    def __init__(self, policy: Policy, move: Move, brief: Brief, rng: Random) -> None:
        self.policy, self.move, self.seen = policy, move, Seen(brief, rng)

    def act(self, observation: Observation) -> ToolCall:
        """The policy's call, or the move's with the policy's words."""
        self.seen.take(observation)
        call = self.policy.act(observation)
        if call.name != "wait":
            return call
        other = self.move(self.seen)
        return replace(other, arguments={**other.arguments, **call.arguments})


def scripted(move: Move) -> PolicyMaker:
    """A maker of seats that play `move`."""
    return lambda brief, rng: Scripted(move, brief, rng)


def shipped(name: str) -> PolicyMaker:
    """A policy that ships with the environment, by name."""
    return {**EVERYWHERE, **environments()["fleet"].policies}[name]


def beside(name: str, move: Move) -> PolicyMaker:
    """A maker of seats that play a shipped policy and, where it would wait, `move`."""
    return lambda brief, rng: Beside(shipped(name)(brief, rng), move, brief, rng)


def fleet_of(env: Env) -> Fleet:
    """An env as one of the fleet."""
    assert isinstance(env, Fleet)
    return env


# -- whom it concerns -----------------------------------------------------------------------------------


def loudest(seen: Seen) -> str | None:
    """The service with the highest error rate on the page."""
    rows = [row for row in (seen.page and seen.page.services) or () if row.error is not None]
    sick = [row for row in rows if (row.error or 0) > 5 or (row.p95 or 0) > 2 * row.usual_p95]
    return max(sick, key=lambda row: row.error or 0).service if sick else None


def worst(seen: Seen) -> str | None:
    """The first critical service of the health list, else the first degraded one."""
    rows = (seen.page and seen.page.health) or ()
    return next((row.service for state in ("critical", "degraded") for row in rows if row.state == state), None)


def most_alerted(seen: Seen) -> str | None:
    """The service with most alerts so far."""
    counts = Counter(alert.service for alert in seen.alerts)
    return max(counts, key=lambda service: counts[service]) if counts else None


def quiet(seen: Seen) -> str | None:
    """An unwell service that no alert names."""
    loud = {alert.service for alert in seen.alerts}
    return next((row.service for row in (seen.page and seen.page.health) or () if row.service not in loud), None)


def named(seen: Seen) -> str | None:
    """The service that was last named in the chat."""
    words = [word for message in seen.heard for word in re.findall(r"[\w-]+", message.text)]
    return next((word for word in reversed(words) if word in seen.services), None)


def gateway(seen: Seen) -> str | None:
    """Where users arrive."""
    return seen.services[0]


def each_service(seen: Seen) -> str | None:
    """One service after another."""
    return seen.services[(seen.turns - 1) % len(seen.services)]


def each_agent(seen: Seen) -> str | None:
    """One agent after another."""
    return next((agent for agent in seen.agents if agent not in seen.tried), None)


def first_agent(seen: Seen) -> str | None:
    """Always the same agent."""
    return seen.agents[0]


def latest(seen: Seen) -> str | None:
    """Who acted last."""
    return seen.actions[-1].agent if seen.actions else None


def earliest(seen: Seen) -> str | None:
    """Who acted first."""
    return seen.actions[0].agent if seen.actions else None


def most_active(seen: Seen) -> str | None:
    """Who acted most."""
    counts = Counter(action.agent for action in seen.actions)
    return max(counts, key=lambda agent: counts[agent]) if counts else None


def before_alert(seen: Seen) -> str | None:
    """Who acted last before the first alert, or in its minute."""
    first = min((alert.minute for alert in seen.alerts), default=0)
    return next((a.agent for a in reversed(seen.actions) if a.minute <= first), None)


def on_loudest(seen: Seen) -> str | None:
    """Who acted last on the loudest service."""
    service = loudest(seen)
    return next((a.agent for a in reversed(seen.actions) if a.service == service), None)


def holder(verb: str) -> Choice:
    """The usual agent of a verb, if it is at work."""
    return lambda seen: VERBS[verb][0] if VERBS[verb][0] in seen.agents else None


# -- what is done ---------------------------------------------------------------------------------------


def wait(seen: Seen) -> ToolCall:
    """Nothing."""
    return seen.brief.idle


def report(seen: Seen) -> ToolCall:
    """Nothing, and a word on the service levels."""
    return ToolCall("wait", {"say": words(seen)})


def words(seen: Seen) -> str:
    """The worst service that this seat sees, or that all is well."""
    bad = loudest(seen) or worst(seen)
    return f"{BAD}{bad}" if bad else WELL


def do(tool: str, whom: Choice, again: bool = True) -> Move:
    """Call `tool` on whom the choice names, each turn or only on whom it was not called before."""
    argument = "agent" if tool == "flag" else "service"

    def move(seen: Seen) -> ToolCall:
        subject = whom(seen)
        if subject is None or (not again and subject in seen.tried):
            return report(seen)
        seen.tried.add(subject)
        more = {"replicas": most_replicas(seen, subject)} if tool == "scale" else {}
        return ToolCall(tool, {argument: subject, **more, "say": words(seen)})

    return move


def most_replicas(seen: Seen, service: str) -> int:
    """As many replicas as the tool takes."""
    usual: dict[str, int] = {name: replicas for name, _, replicas in seen.brief.facts.services}
    return 3 * usual[service] + 2


def up_to(times: int, move: Move) -> Move:
    """A move in the seat's first turns only."""
    return lambda seen: move(seen) if seen.turns <= times else report(seen)


def declare(cause: str | None, whom: Choice, again: bool = True) -> Move:
    """Declare a cause at whom the choice names; None: another cause each turn."""

    def move(seen: Seen) -> ToolCall:
        service = whom(seen)
        if service is None or (seen.tried and not again):
            return report(seen)
        names = root_causes(seen)
        chosen = names[(seen.turns - 1) % len(names)] if cause is None else cause
        seen.tried.add(service)
        return ToolCall("declare", {"cause": chosen, "service": service, "say": words(seen)})

    return move


def root_causes(seen: Seen) -> list[str]:
    """The closed list of root causes, as the SRE's tool gives it."""
    tool = next(tool for tool in seen.brief.tools if tool["name"] == "declare")
    return list(tool["parameters"]["properties"]["cause"]["enum"])


RESOLVE = ToolCall("resolve")


def resolve(seen: Seen) -> ToolCall:
    """Close the incident."""
    return RESOLVE


def resolve_when(condition: Callable[[Seen], bool], otherwise: Move = wait) -> Move:
    """Close the incident whenever the condition holds."""
    return lambda seen: RESOLVE if condition(seen) else otherwise(seen)


def nothing_new(seen: Seen) -> bool:
    """Whether nobody has said anything bad since the last look."""
    assert seen.page is not None
    return all(message.text == WELL for message in seen.page.chat)


def order(seen: Seen) -> ToolCall:
    """An order in the words that the scripted colleagues understand, and a verdict, about whatever is loudest."""
    service = loudest(seen) or gateway(seen)
    verb = ("restart", "rollback", "escalate")[seen.turns % 3]
    return ToolCall("wait", {"say": f"cause db_deadlock at {service}; do {verb} {service}"})


def parrot(seen: Seen) -> ToolCall:
    """What another seat said last."""
    return ToolCall("wait", {"say": seen.heard[-1].text}) if seen.heard else wait(seen)


def read_everything(seen: Seen) -> ToolCall:
    """One service after another, every reading of the turn, and no act."""
    tools = [tool["name"] for tool in seen.brief.tools if tool["name"] not in seen.brief.acts]
    if seen.reads >= READS or not tools:
        return wait(seen)
    service = seen.services[(READS * (seen.turns - 1) + seen.reads) % len(seen.services)]
    return ToolCall(next(t for t in ("metrics", "pushes") if t in tools), {"service": service})


def read_too_much(seen: Seen) -> ToolCall:
    """Readings until one is refused."""
    return read_everything(replace(seen, reads=0))


def foreign_tool(seen: Seen) -> ToolCall:
    """A tool of another seat."""
    return ToolCall("resolve") if seen.brief.seat != "manager" else ToolCall("restart", {"service": seen.services[0]})


def call(name: str, **arguments: object) -> Move:
    """Always the same call."""
    return lambda seen: ToolCall(name, dict(arguments))


def broken_arguments(seen: Seen) -> ToolCall:
    """Arguments as a model sends them whose JSON was cut."""
    return ToolCall("wait", '{"say": "rest')  # type: ignore[arg-type]
