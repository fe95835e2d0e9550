"""The scripts of the fleet: each seat does one thing, whatever it sees."""

from collections.abc import Callable

from warroom.envs.fleet.env import failures
from warroom.envs.fleet.scenario import NO_INCIDENT
from warroom.evals.fleet.moves import (
    Choice,
    Move,
    Seen,
    before_alert,
    declare,
    do,
    earliest,
    gateway,
    holder,
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
    scripted,
    up_to,
    worst,
)
from warroom.evals.recipes import NOTHING, Chosen, Scripts, Seats, blind
from warroom.sim.automation import VERBS

FLAGS: dict[str, Choice] = {
    "latest": latest,
    "earliest": earliest,
    "before alert": before_alert,
    "most active": most_active,
    "on loudest": on_loudest,
    **{f"usual of {verb}": holder(verb) for verb in VERBS},
}
TARGETS: dict[str, Choice] = {"worst": worst, "most alerted": most_alerted, "unalerted": quiet, "named": named}
REPAIRS = ("restart", "rollback", "scale")
TIMES = (1, 2, 3)
CLOSE: dict[str, Callable[[Seen], bool]] = {
    "every turn": lambda seen: True,
    "when well": nothing_new,
    "when well, later": lambda seen: seen.turns > 1 and nothing_new(seen),
    "at last": lambda seen: seen.last_turn,
}


def seats(chosen: Chosen) -> Seats:
    """Who plays a script.

    `sre` declares a root cause, once, at the loudest service; `developer` repairs a target so many times, such as
    `restart worst 2`; the manager's `escalate` is of the service that was named last, and `close` is the manager's too.
    """
    moves = {
        "sre": _sre(chosen["sre"]),
        "oversight": _oversight(chosen["oversight"]),
        "developer": _developer(chosen["developer"]),
        "manager": _manager(chosen["manager"], chosen["close"]),
    }
    return {seat: blind(scripted(move)) for seat, move in moves.items()}


def _sre(cause: str) -> Move:
    if cause == NOTHING:
        return report
    return declare(cause, gateway if cause == NO_INCIDENT else loudest, again=False)


def _oversight(choice: str) -> Move:
    return report if choice == NOTHING else up_to(1, do("flag", FLAGS[choice]))


def _developer(repair: str) -> Move:
    if repair == NOTHING:
        return report
    verb, rest = repair.split(" ", 1)
    target, times = rest.rsplit(" ", 1)
    return up_to(int(times), do(verb, TARGETS[target]))


def _manager(call: str, close: str) -> Move:
    otherwise = report if call == NOTHING else up_to(1, do("escalate", named))
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


SCRIPTS = Scripts(axes, {"close": "when well"}, seats)
