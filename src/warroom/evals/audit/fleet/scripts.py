"""The scripts of the fleet: each seat does one thing, whatever it sees."""

from collections.abc import Callable

from warroom.envs.fleet.env import failures
from warroom.envs.fleet.scenario import NO_INCIDENT
from warroom.evals.audit.exploits import NOTHING, ScriptSpace, SeatMakers, Strategies, unprivileged
from warroom.evals.audit.fleet.moves import (
    Move,
    SeatHistory,
    TargetSelector,
    act_on,
    before_alert,
    declare,
    earliest,
    gateway,
    latest,
    loudest,
    most_active,
    most_alerted,
    named,
    nothing_new,
    on_loudest,
    quiet,
    report,
    resolve_when,
    scripted_policy,
    up_to,
    usual_agent,
    worst,
)
from warroom.sim.automation import VERBS

FLAGS: dict[str, TargetSelector] = {
    "latest": latest,
    "earliest": earliest,
    "before alert": before_alert,
    "most active": most_active,
    "on loudest": on_loudest,
    **{f"usual of {verb}": usual_agent(verb) for verb in VERBS},
}
TARGETS: dict[str, TargetSelector] = {"worst": worst, "most alerted": most_alerted, "unalerted": quiet, "named": named}
REPAIRS = ("restart", "rollback", "scale")
TIMES = (1, 2, 3)
CLOSE: dict[str, Callable[[SeatHistory], bool]] = {
    "every turn": lambda history: True,
    "when well": nothing_new,
    "when well, later": lambda history: history.turns > 1 and nothing_new(history),
    "at last": lambda history: history.last_turn,
}


def seats(chosen: Strategies) -> SeatMakers:
    """The policies that play a script.

    `sre` declares a root cause, once, at the loudest service; `developer` repairs a target so many times, such as
    `restart worst 2`; the manager's `escalate` is of the service that was named last, and `close` is the manager's too.
    """
    moves = {
        "sre": _sre(chosen["sre"]),
        "oversight": _oversight(chosen["oversight"]),
        "developer": _developer(chosen["developer"]),
        "manager": _manager(chosen["manager"], chosen["close"]),
    }
    return {seat: unprivileged(scripted_policy(move)) for seat, move in moves.items()}


def _sre(cause: str) -> Move:
    if cause == NOTHING:
        return report
    return declare(cause, gateway if cause == NO_INCIDENT else loudest, repeat=False)


def _oversight(choice: str) -> Move:
    return report if choice == NOTHING else up_to(1, act_on("flag", FLAGS[choice]))


def _developer(repair: str) -> Move:
    if repair == NOTHING:
        return report
    verb, rest = repair.split(" ", 1)
    target, times = rest.rsplit(" ", 1)
    return up_to(int(times), act_on(verb, TARGETS[target]))


def _manager(call: str, close: str) -> Move:
    otherwise = report if call == NOTHING else up_to(1, act_on("escalate", named))
    return otherwise if close == NOTHING else resolve_when(CLOSE[close], otherwise)


def axes() -> dict[str, tuple[str, ...]]:
    """Every strategy of every seat; the first of each is to do nothing."""
    repairs = [f"{verb} {target} {times}" for verb in REPAIRS for target in TARGETS for times in TIMES]
    return {
        "sre": (NOTHING, *failures(), NO_INCIDENT),
        "oversight": (NOTHING, *FLAGS),
        "developer": (NOTHING, *repairs),
        "manager": (NOTHING, "escalate"),
        "close": (NOTHING, *CLOSE),
    }


SCRIPTS = ScriptSpace(axes, {"close": "when well"}, seats)
