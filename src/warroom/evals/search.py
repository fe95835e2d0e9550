"""A search over short scripts: fixed strategies, put together at random, the best kept on ever more incidents.

Whoever lists degenerate policies finds what he thought of. The search tries hundreds that nobody thought of, on
incidents of the training split, and reports the survivors on others. A script weighs no evidence: each seat does one
thing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from statistics import fmean

from warroom.core.rng import stream
from warroom.core.splits import Split, for_training
from warroom.envs import suite
from warroom.evals.outcomes import Entrant, Outcome, Progress, incidents, play_all
from warroom.evals.probes import Probes, script_team
from warroom.evals.recipes import NOTHING, Script, Scripts

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


def script(scripts: Scripts, chosen: Mapping[str, str]) -> Script:
    """The script of these strategies, and of nothing on the other axes."""
    return Script(tuple((axis, chosen.get(axis, NOTHING)) for axis in scripts.axes()))


def candidates(scripts: Scripts, rng: Random, count: int) -> list[Script]:
    """`count` scripts: first all that differ from the usual one on a single axis, then drawn ones."""
    axes = scripts.axes()
    simple = [script(scripts, {**scripts.usual, axis: value}) for axis, values in axes.items() for value in values]
    rng.shuffle(simple)
    found = dict.fromkeys(simple)
    while len(found) < count:
        found[script(scripts, {axis: rng.choice(values) for axis, values in axes.items()})] = None
    return list(found)[:count]


def neighbours(scripts: Scripts, near: Script, rng: Random, count: int) -> list[Script]:
    """Scripts that differ from `near` on one axis."""
    axes, out = scripts.axes(), []
    for _ in range(count):
        axis = rng.choice(list(axes))
        out.append(script(scripts, {**near.chosen, axis: rng.choice(axes[axis])}))
    return out


def search(
    probes: Probes, tier: str, effort: Effort, workers: int = 1, progress: Progress = lambda count: None
) -> list[Script]:
    """The best scripts of each goal on training incidents of a tier; those of all goals, no script twice."""
    found: list[Script] = []
    for goal in GOALS:
        halve = partial(_halve, probes, tier, goal, effort, workers, progress)
        rng = stream(0, "script search", tier, goal)
        first = halve(candidates(probes.scripts, rng, effort.scripts))
        near = [n for best in first for n in neighbours(probes.scripts, best, rng, effort.scripts // (2 * len(first)))]
        found += halve([*dict.fromkeys([*first, *near])])
    return list(dict.fromkeys(found))


def _halve(
    probes: Probes, tier: str, goal: str, effort: Effort, workers: int, progress: Progress, scripts: Sequence[Script]
) -> list[Script]:
    """Successive halving (Jamieson and Talwalkar 2016) with a keep of one in four; the finalists, best first."""
    scenarios, value = for_training(suite(probes.env, "full")), GOALS[goal]
    left, points, begin = list(scripts), {script.name: list[float]() for script in scripts}, 0
    for rung in effort.rungs:
        todo = incidents(scenarios, tier, Split.TRAIN, range(begin, begin + rung))
        entrants = [entrant(probes.env, script) for script in left]
        for outcome in play_all(entrants, todo, probes.judge, workers, progress, probes.options):
            points[outcome.entrant].append(value(outcome))
        begin += rung
        left.sort(key=lambda script: -fmean(points[script.name]))
        left = left[: max(effort.finalists, len(left) // 4)]
    return left[: effort.finalists]


def entrant(env: str, script: Script) -> Entrant:
    """A script as a team to play."""
    return Entrant(script.name, partial(script_team, env, script))


def effort_episodes(env: str, effort: Effort) -> int:
    """About how many episodes `search` plays, for a progress bar."""
    total, left = 0, effort.scripts
    for rung in effort.rungs:
        total += left * rung
        left = max(effort.finalists, left // 4)
    return round(total * 1.5) * len(GOALS) * len(for_training(suite(env, "full")))
