"""The scripts of log triage: what is asked for, what is answered and how it is closed, fixed from the start."""

from random import Random

from warroom.core.types import ToolCall
from warroom.envs.logs.oncall import SEATS
from warroom.envs.logs.policies.naive import HABITS, Seen
from warroom.envs.logs.views import ALL, REMEDIES, SEVERITIES, TEAMS
from warroom.evals.logs.moves import LOOK, Calls, Plan, ask, first_of, mend, name, page, planned, severe, usual
from warroom.evals.recipes import NOTHING, Chosen, Scripts, Seats, blind

KINDS = ("gateway", "service", "db", "queue")
ROOTS = ("last", *[f"first {kind}" for kind in KINDS], "loudest", "loudest_delta", "first_error", "keyword")
"""Whom a script names: by place, or by the one sign that a listed naive policy goes by."""
ASKS = ("all", "gateway", "each")
WAITS = ("1", "2", "4")
CLOSES = ("resolve", "ignore")
MOST = 3
"""Services that `each` asks for."""


def axes() -> dict[str, tuple[str, ...]]:
    """Every strategy."""
    return {
        "asks": (NOTHING, *ASKS),
        "severity": (NOTHING, *SEVERITIES),
        "root": (NOTHING, *ROOTS),
        "team": (NOTHING, "owner", *TEAMS),
        "remedy": (NOTHING, "usual", *REMEDIES),
        "waits": (NOTHING, *WAITS),
        "closes": (NOTHING, *CLOSES),
    }


def seats(chosen: Chosen) -> Seats:
    """Who plays a script."""
    return dict.fromkeys(SEATS, blind(planned(plan_of(chosen))))


def plan_of(chosen: Chosen) -> Plan:
    """The plan of a script; what follows from the root is left out where none is named."""

    def plan(seen: Seen, rng: Random) -> Calls:
        yield from [ask(source) for source in _sources(chosen["asks"], seen)]
        if chosen["severity"] != NOTHING:
            yield severe(chosen["severity"])
        root = _root(chosen["root"], seen)
        if root is not None:
            yield from _about(root, chosen, seen)
        elif chosen["team"] in TEAMS:
            yield page(chosen["team"])
        yield from [LOOK] * (int(chosen["waits"]) if chosen["waits"] != NOTHING else 0)
        if chosen["closes"] != NOTHING:
            yield ToolCall(chosen["closes"])

    return plan


def _sources(asks: str, seen: Seen) -> tuple[str, ...]:
    names = seen.catalogue.names
    return {NOTHING: (), "all": (ALL,), "gateway": names[:1], "each": names[1:][:MOST]}[asks]


def _root(choice: str, seen: Seen) -> str | None:
    if choice == NOTHING:
        return None
    if choice == "last":
        return seen.catalogue.names[-1]
    kind = choice.removeprefix("first ")
    return first_of(seen, kind) if kind in KINDS else HABITS[choice].believes(seen)


def _about(root: str, chosen: Chosen, seen: Seen) -> Calls:
    team, remedy = chosen["team"], chosen["remedy"]
    yield name(root)
    if team != NOTHING:
        yield page(seen.catalogue.entry(root).team if team == "owner" else team)
    if remedy != NOTHING:
        yield mend(usual(seen, root) if remedy == "usual" else remedy, root)


SCRIPTS = Scripts(axes, {"root": "first db", "team": "owner", "remedy": "usual", "closes": "resolve"}, seats)
