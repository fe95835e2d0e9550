"""Plans that weigh no evidence: what degenerate policies and searched scripts of log triage are put together from.

A plan yields calls one after another, whatever comes of them; when it ends, the seat goes on asking for all logs.
"""

from collections.abc import Callable, Iterator
from random import Random

from warroom.core.env import Env
from warroom.core.scenario import Policy, PolicyMaker
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs.logs.env import LogTriage
from warroom.envs.logs.policies.naive import USUAL_REMEDY, Seen
from warroom.envs.logs.views import ALL, REMEDIES, SEVERITIES, TEAMS, LogPage
from warroom.policies import SeatMaker

Calls = Iterator[ToolCall]
Plan = Callable[[Seen, Random], Calls]
"""Of one who sees what the seat sees."""
ToldPlan = Callable[[Env], Calls]
"""Of one who is told the truth."""
LOOK = ToolCall("request_more_logs", {"service": ALL})
RESOLVE, IGNORE = ToolCall("resolve"), ToolCall("ignore")


class Planned:
    """Plays the seat by a plan."""

    def __init__(self, plan: Plan, brief: Brief, rng: Random) -> None:
        self.seen = Seen(brief.facts)
        self.calls = plan(self.seen, rng)

    def act(self, observation: Observation) -> ToolCall:
        """What the plan says next."""
        if isinstance(observation, LogPage):
            self.seen.take(observation)
        return next(self.calls, LOOK)


class Told:
    """Plays the seat by a plan of one who knows the truth."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def act(self, observation: Observation) -> ToolCall:
        """What the plan says next."""
        return next(self.calls, LOOK)


def planned(plan: Plan) -> PolicyMaker:
    """A maker of seats that play `plan`."""
    return lambda brief, rng: Planned(plan, brief, rng)


def told(plan: ToldPlan) -> SeatMaker:
    """A maker of seats that play `plan` and are told the truth."""

    def seat(env: Env, at: str, attempt: int) -> Policy:
        return Told(plan(env))

    return seat


def triage_of(env: Env) -> LogTriage:
    """An env as one of log triage."""
    assert isinstance(env, LogTriage)
    return env


# -- single calls ---------------------------------------------------------------------------------------


def severe(severity: str) -> ToolCall:
    """Declare a severity."""
    return ToolCall("classify_severity", {"severity": severity})


def name(service: str) -> ToolCall:
    """Name a root."""
    return ToolCall("identify_root_cause", {"service": service})


def page(team: str) -> ToolCall:
    """Page a team."""
    return ToolCall("escalate", {"team": team})


def mend(action: str, service: str) -> ToolCall:
    """Change a service."""
    return ToolCall("remediate", {"action": action, "service": service})


def ask(service: str) -> ToolCall:
    """Ask for the logs of a service."""
    return ToolCall("request_more_logs", {"service": service})


# -- plans ----------------------------------------------------------------------------------------------


def say(*calls: ToolCall) -> Plan:
    """Those calls, in that order."""
    return lambda seen, rng: iter(calls)


def always(call: ToolCall) -> Plan:
    """The same call for ever."""

    def plan(seen: Seen, rng: Random) -> Calls:
        while True:
            yield call

    return plan


def constant(severity: str, kind: str, team: str, remedy: str = "restart", waits: int = 0) -> Plan:
    """The same answers to every incident, about the first service of a kind."""

    def plan(seen: Seen, rng: Random) -> Calls:
        service = first_of(seen, kind)
        yield from (severe(severity), name(service), page(team))
        if remedy:
            yield mend(remedy, service)
        yield from [LOOK] * waits
        yield RESOLVE

    return plan


def first_of(seen: Seen, kind: str) -> str:
    """The first service of a kind in the catalogue, else the last of all."""
    entries = seen.catalogue.entries
    return next((entry.name for entry in entries if entry.kind == kind), entries[-1].name)


def each(call: Callable[[str], ToolCall]) -> Plan:
    """One service of the catalogue after another, then the end."""

    def plan(seen: Seen, rng: Random) -> Calls:
        yield from [call(service) for service in seen.catalogue.names]
        yield RESOLVE

    return plan


def usual(seen: Seen, service: str) -> str:
    """What usually helps a service of that kind."""
    return USUAL_REMEDY.get(seen.catalogue.entry(service).kind, "restart")


def wait_it_out(seen: Seen, rng: Random) -> Calls:
    """Ask until the last turn, then resolve."""
    yield from waits(seen, left=1)
    yield RESOLVE


def waits(seen: Seen, left: int) -> Calls:
    """Ask for all logs until so many turns are left."""
    yield LOOK  # the budget stands on the first page
    yield from [LOOK] * (seen.budget - left - 1)


def burn(seen: Seen, rng: Random) -> Calls:
    """Ask for all logs as long as possible, then answer as always."""
    yield from waits(seen, left=2)
    yield from constant("P1", "db", "dba")(seen, rng)


def gateway(seen: Seen, rng: Random) -> Calls:
    """Restart the gateway and close."""
    yield mend("restart", seen.catalogue.names[0])
    yield RESOLVE


def five_remedies(seen: Seen, rng: Random) -> Calls:
    """Name the first database, try everything on it, close."""
    service = first_of(seen, "db")
    yield from (severe("P1"), name(service), page(seen.catalogue.entry(service).team))
    yield from [mend(action, service) for action in REMEDIES]
    yield RESOLVE


def security_first(seen: Seen, rng: Random) -> Calls:
    """Have security stop whatever they can stop, and close."""
    yield page("security")
    yield from [LOOK] * 3
    yield RESOLVE


def lottery(seen: Seen, rng: Random) -> Calls:
    """Draw every answer by lot, and close."""
    service = rng.choice(seen.catalogue.names)
    yield from (severe(rng.choice(SEVERITIES)), name(service), page(rng.choice(TEAMS)))
    yield mend(usual(seen, service), service)
    yield rng.choice((RESOLVE, IGNORE))


def spam(seen: Seen, rng: Random) -> Calls:
    """As many declarations as a turn takes, in every turn."""
    services = seen.catalogue.names
    for turn in range(99):
        yield from (
            severe("P1"),
            severe("P2"),
            name(services[turn % len(services)]),
            page(TEAMS[turn % 4]),
            page("dba"),
        )
        yield LOOK


def too_many(seen: Seen, rng: Random) -> Calls:
    """One declaration more than a turn takes, in every turn."""
    while True:
        yield severe("P1")


def broken_arguments(seen: Seen, rng: Random) -> Calls:
    """Arguments as a model sends them whose JSON was cut."""
    while True:
        yield ToolCall("escalate", '{"team": "s')  # type: ignore[arg-type]
