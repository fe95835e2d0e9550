"""A search over short scripts: fixed strategies by seat, put together at random, the best kept on ever more incidents.

Whoever lists degenerate policies finds what he thought of. The search tries hundreds that nobody thought of, on
incidents of the training split, and reports the survivors on others. A script weighs no evidence: each seat does one
thing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from random import Random
from statistics import fmean

from warroom.core.rng import stream
from warroom.core.splits import Split, for_training
from warroom.envs import suite
from warroom.envs.fleet.env import failures
from warroom.envs.fleet.scenario import NO_INCIDENT
from warroom.evals.degenerate import team_of
from warroom.evals.moves import (
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
from warroom.evals.outcomes import Entrant, Outcome, Progress, incidents, play_all
from warroom.policies import Team
from warroom.sim.automation import VERBS

NOTHING = "nothing"
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


@dataclass(frozen=True, slots=True)
class Script:
    """What each seat does, by the names of the tables above; `nothing` where it only reports what it sees."""

    sre: str = NOTHING
    """A root cause, declared once at the loudest service."""
    oversight: str = NOTHING
    developer: str = NOTHING
    """A repair, its target and how often: `restart worst 2`."""
    manager: str = NOTHING
    """`escalate` of the service that was named last, or nothing."""
    close: str = NOTHING

    @property
    def name(self) -> str:
        """What is not nothing, seat by seat."""
        chosen = [f"{f.name}: {getattr(self, f.name)}" for f in fields(self) if getattr(self, f.name) != NOTHING]
        return "; ".join(chosen) or NOTHING

    def team(self) -> Team:
        """The team that plays it."""
        seats = {
            "sre": _sre(self.sre),
            "oversight": _oversight(self.oversight),
            "developer": _developer(self.developer),
            "manager": _manager(self.manager, self.close),
        }
        return team_of(self.name, {seat: scripted(move) for seat, move in seats.items()})


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


def candidates(rng: Random, count: int) -> list[Script]:
    """`count` scripts: first all in which one seat acts and the manager closes when all is well, then drawn ones."""
    table = axes()
    simple = [Script(**{"close": "when well", axis: value}) for axis, values in table.items() for value in values]
    rng.shuffle(simple)
    found = dict.fromkeys(simple)
    while len(found) < count:
        found[Script(**{axis: rng.choice(values) for axis, values in table.items()})] = None
    return list(found)[:count]


def neighbours(script: Script, rng: Random, count: int) -> list[Script]:
    """Scripts that differ from `script` in one seat."""
    table = axes()
    out = []
    for _ in range(count):
        axis = rng.choice(list(table))
        out.append(replace(script, **{axis: rng.choice(table[axis])}))
    return out


GOALS: dict[str, Callable[[Outcome], float]] = {
    "points": lambda outcome: outcome.points,
    "solved": lambda outcome: outcome.points + 1e6 * outcome.solved,
}
"""What a search maximises: points, or solved incidents whatever they cost."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard a search tries."""

    scripts: int = 300
    """Candidates of the first round, and again in the second around the best of the first."""
    rungs: tuple[int, ...] = (1, 2, 6)
    """Seeds per scenario that each rung adds; the best fourth go on to the next."""
    finalists: int = 5
    """Scripts of each goal that are reported."""


def search(tier: str, effort: Effort, workers: int = 1, progress: Progress = lambda count: None) -> list[Script]:
    """The best scripts of each goal on training incidents of a tier; those of all goals, no script twice."""
    found: list[Script] = []
    for goal in GOALS:
        rng = stream(0, "script search", tier, goal)
        first = _halve(candidates(rng, effort.scripts), tier, goal, effort, workers, progress)
        around = [n for script in first for n in neighbours(script, rng, effort.scripts // (2 * len(first)))]
        second = _halve([*dict.fromkeys([*first, *around])], tier, goal, effort, workers, progress)
        found += second[: effort.finalists]
    return list(dict.fromkeys(found))


def _halve(
    scripts: Sequence[Script], tier: str, goal: str, effort: Effort, workers: int, progress: Progress
) -> list[Script]:
    """Successive halving (Jamieson and Talwalkar 2016) with a keep of one in four; the finalists, best first."""
    scenarios, value = for_training(suite("fleet", "full")), GOALS[goal]
    left, points, begin = list(scripts), {script.name: list[float]() for script in scripts}, 0
    for rung in effort.rungs:
        todo = incidents(scenarios, tier, Split.TRAIN, range(begin, begin + rung))
        for outcome in play_all([entrant(script) for script in left], todo, workers, progress):
            points[outcome.entrant].append(value(outcome))
        begin += rung
        left.sort(key=lambda script: -fmean(points[script.name]))
        left = left[: max(effort.finalists, len(left) // 4)]
    return left[: effort.finalists]


def entrant(script: Script) -> Entrant:
    """A script as a team to play."""
    return Entrant(script.name, partial(Script.team, script))


def effort_episodes(effort: Effort) -> int:
    """About how many episodes `search` plays, for a progress bar."""
    total, left = 0, effort.scripts
    for rung in effort.rungs:
        total += left * rung
        left = max(effort.finalists, left // 4)
    return round(total * 1.5) * len(GOALS) * len(for_training(suite("fleet", "full")))
