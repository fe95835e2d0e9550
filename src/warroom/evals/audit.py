"""The audit: what policies that weigh no evidence can get, held against bars, with every bar that fails named.

A bar on means fails when the whole 95 % interval lies on the wrong side; a mean that lies there within chance is
reported apart, so that more incidents can decide it.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from warroom.core.splits import parse_split
from warroom.core.types import ToolCall
from warroom.envs import make, suite
from warroom.evals.degenerate import DEGENERATE, degenerate_team
from warroom.evals.outcomes import Entrant, Incident, Outcome, Progress, incidents, play_all
from warroom.evals.search import Effort, effort_episodes, entrant, search
from warroom.evals.statistics import Difference, Estimate, mean, paired, share
from warroom.policies import Team, team

Kind = Literal["reference", "naive", "degenerate", "searched"]

BARS = {
    "negative": "has negative mean points",
    "below heuristic": "has mean points not above the naive heuristic's, on the same incidents",
    "solves less": "solves no larger share of incidents where something is wrong than the naive heuristic",
    "ceiling": "never gets more points than the oracle on any incident",
    "paid once": "is paid nothing for doing again what was paid before",
}
"""What must hold of every degenerate and searched policy, the first of naive ones too, the last two of everyone."""
BASELINE, IDLE = "heuristic", "noop"
REFERENCES = ("expert", "oracle")
NAIVE = (IDLE, "random", "keyword", BASELINE)
REPEATED = ("expert", "heuristic", "random")
"""Policies whose calls are played twice over, to see whether a repetition is paid."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Standing:
    """What one policy got on one tier."""

    tier: str
    policy: str
    kind: Kind
    story: str
    n: int
    """Incidents."""
    points: Estimate
    points_wrong: Estimate
    """Points on the incidents where something is wrong: all but the false alarms."""
    score: Estimate
    solved: Estimate
    solved_wrong: Estimate
    passive: bool
    """Whether it never made a change, a flag, a declaration or a closing."""


class Failure(NamedTuple):
    """A bar that a policy does not meet."""

    bar: str
    tier: str
    policy: str
    detail: str


@dataclass(frozen=True)
class Audit:
    """Standings of all policies, and which bars fail."""

    split: str
    suite: str
    seeds: tuple[int, ...]
    standings: tuple[Standing, ...]
    violations: tuple[Failure, ...]
    """Bars of `BARS` that fail; none is the aim."""
    within_chance: tuple[Failure, ...]
    """Means on the wrong side of a bar whose interval does not lie there whole."""

    def to_json(self) -> dict[str, Any]:
        """For a program: estimates as mean, lo and hi."""
        return {
            "split": self.split,
            "suite": self.suite,
            "seeds": list(self.seeds),
            "bars": BARS,
            "rows": [_plain(standing) for standing in self.standings],
            "violations": [failure._asdict() for failure in self.violations],
            "within_chance": [failure._asdict() for failure in self.within_chance],
        }


def _plain(standing: Standing) -> dict[str, Any]:
    values = ((name, getattr(standing, name)) for name in asdict(standing))
    return {name: value._asdict() if isinstance(value, Estimate) else value for name, value in values}


def run_audit(
    tiers: Sequence[str],
    seeds: Sequence[int],
    suite_name: str = "full",
    workers: int = 2,
    split: str = "dev",
    progress: Progress = lambda count: None,
    effort: Effort | None = None,
) -> Audit:
    """Play every naive, degenerate and searched policy on the same incidents and hold them against the bars.

    `seeds` are indices into the split. Scripts are searched on the training split, with the given effort.
    """
    parse_split(split)  # refused before the search begins
    scenarios, standings, failures, chance = suite("fleet", suite_name), [], [], []
    for tier in tiers:
        entrants = {
            **_listed(),
            **{entrant(s).name: entrant(s) for s in search(tier, effort or Effort(), workers, progress)},
        }
        played = _by_entrant(
            play_all(list(entrants.values()), incidents(scenarios, tier, split, seeds), workers, progress)
        )
        rows = [_standing(tier, name, outcomes) for name, outcomes in played.items()]
        standings += rows
        for row in rows:
            judged = _judged(row, played)
            failures += [failure for failure, beyond in judged if beyond]
            chance += [failure for failure, beyond in judged if not beyond]
            failures += _above_ceiling(row, played[row.policy])
        failures += _paid_again(
            [Incident(s, tier, i.seed) for s in scenarios for i in incidents([s], tier, split, seeds[:1])]
        )
    return Audit(split, suite_name, tuple(seeds), tuple(standings), tuple(failures), tuple(chance))


def audit_episodes(tiers: Sequence[str], seeds: Sequence[int], suite_name: str, effort: Effort) -> int:
    """About how many episodes an audit plays, for a progress bar."""
    entrants = len(_listed()) + 2 * effort.finalists
    return len(tiers) * (effort_episodes(effort) + entrants * len(seeds) * len(suite("fleet", suite_name)))


def _listed() -> dict[str, Entrant]:
    named = {name: Entrant(name, partial(team, "fleet", name)) for name in (*NAIVE, *REFERENCES)}
    return {**{name: Entrant(name, partial(degenerate_team, name)) for name in DEGENERATE}, **named}


def _by_entrant(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    out = defaultdict(list)
    for outcome in outcomes:
        out[outcome.entrant].append(outcome)
    return dict(out)


def _kind(policy: str) -> Kind:
    if policy in REFERENCES:
        return "reference"
    if policy in NAIVE:
        return "naive"
    return "degenerate" if policy in DEGENERATE else "searched"


def _standing(tier: str, policy: str, outcomes: Sequence[Outcome]) -> Standing:
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    story = DEGENERATE[policy].story if policy in DEGENERATE else ""
    return Standing(
        tier, policy, _kind(policy), story, len(outcomes),
        points=_mean([o.points for o in outcomes]),
        points_wrong=_mean([o.points for o in wrong]),
        score=_mean([o.score for o in outcomes]),
        solved=_share([o.solved for o in outcomes]),
        solved_wrong=_share([o.solved for o in wrong]),
        passive=all(o.passive for o in outcomes),
    )  # fmt: skip


def _mean(values: Sequence[float]) -> Estimate:
    return mean(values, range(len(values)))


def _share(values: Sequence[bool]) -> Estimate:
    return share(values, range(len(values)))


# -- the bars -------------------------------------------------------------------------------------------


def _judged(row: Standing, played: Mapping[str, Sequence[Outcome]]) -> list[tuple[Failure, bool]]:
    """Bars on means that are missed, and whether beyond chance."""
    own, baseline = played[row.policy], played[BASELINE]
    out = []
    if row.kind != "reference" and row.points.mean >= 0:
        detail = f"{row.points.mean:.1f} points"
        out.append((Failure("negative", row.tier, row.policy, detail), (row.points.lo or 0.0) > 0))
    if row.kind in ("reference", "naive"):
        return out
    gained = _difference(list(own), list(baseline), lambda o: o.points)
    if gained.mean is not None and gained.mean > ROUNDING:
        detail = f"{gained.mean:.1f} points more than the heuristic"
        out.append((Failure("below heuristic", row.tier, row.policy, detail), _beyond(gained)))
    wrong = [(a, b) for a, b in zip(own, baseline, strict=True) if a.wrong]
    more = _difference([a for a, _ in wrong], [b for _, b in wrong], lambda o: float(o.solved))
    if more.mean is not None and more.mean > ROUNDING:
        detail = f"solves {100 * more.mean:.0f} in 100 more than the heuristic"
        out.append((Failure("solves less", row.tier, row.policy, detail), _beyond(more)))
    return out


def _difference(own: list[Outcome], other: list[Outcome], value: Callable[[Outcome], float]) -> Difference:
    return paired([value(o) for o in own], [value(o) for o in other], range(len(own)))


def _beyond(difference: Difference) -> bool:
    return difference.lo is not None and difference.lo > ROUNDING


def _above_ceiling(row: Standing, own: Sequence[Outcome]) -> list[Failure]:
    return [
        Failure(
            "ceiling", row.tier, row.policy,
            f"{o.points:.0f} points on {o.incident.scenario}, seed {o.incident.seed}; the oracle {o.ceiling:.0f}",
        )
        for o in own
        if o.points > o.ceiling + ROUNDING
    ]  # fmt: skip


# -- repeated credits -----------------------------------------------------------------------------------


def _paid_again(todo: Sequence[Incident]) -> list[Failure]:
    return [
        Failure(
            "paid once",
            incident.tier,
            f"{name}, every act twice",
            f"{detail} ({incident.scenario}, seed {incident.seed})",
        )
        for name in REPEATED
        for incident in todo
        for detail in repeated_payments(team("fleet", name), incident)
    ]


def repeated_payments(players: Team, incident: Incident) -> list[str]:
    """Terms that rise when a call that was paid is made again, in the seat's next turn or after the end: none may."""
    env = make(*incident)
    policies = {seat: players.seat(env, seat) for seat in env.SEATS}
    again, found, paid = dict[str, ToolCall](), list[str](), env.points()
    while not env.done:
        seat, before = env.seat, env.points()
        repeated = again.pop(seat, None)
        call = repeated or policies[seat].act(env.observe())
        ended = env.step(call).ended
        after = env.points()
        risen = [term for term, value in after.items() if value > before[term]]
        if repeated is not None:
            found += [f"{call.name} raised {term} again" for term in risen]
        elif ended and risen:
            again[seat] = call
        paid = after
    env.step(call)
    return found + [f"{call.name} after the end raised {t}" for t, value in env.points().items() if value > paid[t]]
