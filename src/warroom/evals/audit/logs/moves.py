"""Plans that weigh no evidence: what degenerate policies and searched scripts of log triage are put together from.

A plan yields calls one after another, whatever comes of them; when it ends, the seat goes on asking for all logs.
"""

from collections.abc import Callable, Iterator
from random import Random

from warroom.core.env import Env
from warroom.core.policy import Policy, PolicyFactory
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs.logs.env import LogsEnv
from warroom.envs.logs.policies.naive import USUAL_REMEDY, LogHistory
from warroom.envs.logs.views import ALL, REMEDIES, SEVERITIES, TEAMS, LogsObservation
from warroom.policies import SeatPolicyFactory

Calls = Iterator[ToolCall]
Plan = Callable[[LogHistory, Random], Calls]
"""Of one who sees what the seat sees."""
PrivilegedPlan = Callable[[Env], Calls]
"""Of one who is told the truth."""
REQUEST_ALL_LOGS = ToolCall("request_more_logs", {"service": ALL})
RESOLVE, IGNORE = ToolCall("resolve"), ToolCall("ignore")


class PlannedPolicy:
    """Plays the seat by a plan."""

    def __init__(self, plan: Plan, brief: Brief, rng: Random) -> None:
        self.seen = LogHistory(brief.facts)
        self.calls = plan(self.seen, rng)

    def act(self, observation: Observation) -> ToolCall:
        """What the plan says next."""
        if isinstance(observation, LogsObservation):
            self.seen.add_observation(observation)
        return next(self.calls, REQUEST_ALL_LOGS)


class PrivilegedPlanPolicy:
    """Plays the seat by a plan of one who knows the truth."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def act(self, observation: Observation) -> ToolCall:
        """What the plan says next."""
        return next(self.calls, REQUEST_ALL_LOGS)


def planned_policy(plan: Plan) -> PolicyFactory:
    """A maker of seats that play `plan`."""
    return lambda brief, rng: PlannedPolicy(plan, brief, rng)


def privileged_policy(plan: PrivilegedPlan) -> SeatPolicyFactory:
    """A maker of seats that play `plan` and are told the truth."""

    def seat(env: Env, at: str) -> Policy:
        return PrivilegedPlanPolicy(plan(env))

    return seat


def triage_of(env: Env) -> LogsEnv:
    """An env as one of log triage."""
    assert isinstance(env, LogsEnv)
    return env


# -- single calls ---------------------------------------------------------------------------------------


def classify_severity(severity: str) -> ToolCall:
    """Declare a severity."""
    return ToolCall("classify_severity", {"severity": severity})


def identify_root(service: str) -> ToolCall:
    """Name a root."""
    return ToolCall("identify_root_cause", {"service": service})


def escalate_to(team: str) -> ToolCall:
    """Page a team."""
    return ToolCall("escalate", {"team": team})


def fix(action: str, service: str) -> ToolCall:
    """Change a service."""
    return ToolCall("remediate", {"action": action, "service": service})


def request_logs(service: str) -> ToolCall:
    """Ask for the logs of a service."""
    return ToolCall("request_more_logs", {"service": service})


# -- plans ----------------------------------------------------------------------------------------------


def sequence(*calls: ToolCall) -> Plan:
    """Those calls, in that order."""
    return lambda seen, rng: iter(calls)


def always(call: ToolCall) -> Plan:
    """The same call for ever."""

    def plan(seen: LogHistory, rng: Random) -> Calls:
        while True:
            yield call

    return plan


def constant(severity: str, kind: str, team: str, remedy: str = "restart", wait_turns: int = 0) -> Plan:
    """The same answers to every incident, about the first service of a kind."""

    def plan(seen: LogHistory, rng: Random) -> Calls:
        service = first_of(seen, kind)
        yield from (classify_severity(severity), identify_root(service), escalate_to(team))
        if remedy:
            yield fix(remedy, service)
        yield from [REQUEST_ALL_LOGS] * wait_turns
        yield RESOLVE

    return plan


def first_of(seen: LogHistory, kind: str) -> str:
    """The first service of a kind in the catalogue, else the last of all."""
    entries = seen.catalogue.entries
    return next((entry.name for entry in entries if entry.kind == kind), entries[-1].name)


def each(call: Callable[[str], ToolCall]) -> Plan:
    """One service of the catalogue after another, then the end."""

    def plan(seen: LogHistory, rng: Random) -> Calls:
        yield from [call(service) for service in seen.catalogue.names]
        yield RESOLVE

    return plan


def usual(seen: LogHistory, service: str) -> str:
    """What usually helps a service of that kind."""
    return USUAL_REMEDY.get(seen.catalogue.entry(service).kind, "restart")


def wait_until_last_turn(seen: LogHistory, rng: Random) -> Calls:
    """Ask until the last turn, then resolve."""
    yield from wait_until(seen, left=1)
    yield RESOLVE


def wait_until(seen: LogHistory, left: int) -> Calls:
    """Ask for all logs until so many turns are left."""
    yield REQUEST_ALL_LOGS  # the budget stands on the first page
    yield from [REQUEST_ALL_LOGS] * (seen.budget - left - 1)


def waste_budget(seen: LogHistory, rng: Random) -> Calls:
    """Ask for all logs as long as possible, then answer as always."""
    yield from wait_until(seen, left=2)
    yield from constant("P1", "db", "dba")(seen, rng)


def gateway(seen: LogHistory, rng: Random) -> Calls:
    """Restart the gateway and close."""
    yield fix("restart", seen.catalogue.names[0])
    yield RESOLVE


def five_remedies(seen: LogHistory, rng: Random) -> Calls:
    """Name the first database, try everything on it, close."""
    service = first_of(seen, "db")
    yield from (classify_severity("P1"), identify_root(service), escalate_to(seen.catalogue.entry(service).team))
    yield from [fix(action, service) for action in REMEDIES]
    yield RESOLVE


def security_first(seen: LogHistory, rng: Random) -> Calls:
    """Have security stop whatever they can stop, and close."""
    yield escalate_to("security")
    yield from [REQUEST_ALL_LOGS] * 3
    yield RESOLVE


def random_answers(seen: LogHistory, rng: Random) -> Calls:
    """Draw every answer by lot, and close."""
    service = rng.choice(seen.catalogue.names)
    yield from (classify_severity(rng.choice(SEVERITIES)), identify_root(service), escalate_to(rng.choice(TEAMS)))
    yield fix(usual(seen, service), service)
    yield rng.choice((RESOLVE, IGNORE))


def spam(seen: LogHistory, rng: Random) -> Calls:
    """As many declarations as a turn takes, in every turn."""
    services = seen.catalogue.names
    for turn in range(99):
        yield from (
            classify_severity("P1"),
            classify_severity("P2"),
            identify_root(services[turn % len(services)]),
            escalate_to(TEAMS[turn % 4]),
            escalate_to("dba"),
        )
        yield REQUEST_ALL_LOGS


def too_many(seen: LogHistory, rng: Random) -> Calls:
    """One declaration more than a turn takes, in every turn."""
    while True:
        yield classify_severity("P1")


def broken_arguments(seen: LogHistory, rng: Random) -> Calls:
    """Arguments as a model sends them whose JSON was cut."""
    while True:
        yield ToolCall("escalate", '{"team": "s')  # type: ignore[arg-type]
