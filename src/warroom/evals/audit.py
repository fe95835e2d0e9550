"""The audit: what policies that weigh no evidence can get, held against bars, with every bar that fails named.

A bar on means fails when the whole 95 % interval lies on the wrong side; a mean that lies there within chance is
reported apart, so that more incidents can decide it.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from warroom.core.splits import parse_split, seed_in_words
from warroom.core.types import ToolCall
from warroom.envs import make, suite
from warroom.evals.outcomes import Entrant, Incident, Outcome, Progress, incidents, play_all
from warroom.evals.probes import Probes, degenerate_team
from warroom.evals.search import Effort, effort_episodes, entrant, search
from warroom.evals.statistics import Difference, Estimate, mean, paired, share
from warroom.policies import Team, team

Kind = Literal["reference", "naive", "degenerate", "spoilt", "searched"]

BARS = {
    "negative": "has negative mean points",
    "little": "has a mean score of at most 0.3",
    "below heuristic": "has mean points not above the naive heuristic's, on the same incidents",
    "solves less": "solves no larger share of incidents where something is wrong than the naive heuristic",
    "void": "gets no points where something is wrong, once it makes a mistake that voids all credits",
    "ceiling": "never gets more points than the oracle on any incident",
    "paid once": "is paid nothing for doing again what was paid before",
}
"""What must hold of every degenerate and searched policy, `negative` of naive ones too, the last two of everyone.

An environment holds those that its probes name.
"""
BASELINE = "heuristic"
REFERENCES = ("expert", "oracle")
REPEATED = ("oracle", "expert", BASELINE, "random")
"""Policies whose calls are played twice over, to see whether a repetition is paid."""
LITTLE = 0.3
"""Mean score that a policy which weighs no evidence may have."""
ROUNDING = 1e-9
FEAT = 0.5
"""Share of the incidents of one scenario from which a policy that weighs no evidence is named for solving them."""


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
    """Whether it never did more than wait or look."""
    feats: Mapping[str, float]
    """Shares solved of those scenarios of which it solves half or more: each of them alone would tell little."""


class Failure(NamedTuple):
    """A bar that a policy does not meet."""

    bar: str
    tier: str
    policy: str
    detail: str


@dataclass(frozen=True)
class Audit:
    """Standings of all policies, and which bars fail."""

    env: str
    split: str
    suite: str
    seeds: tuple[int, ...]
    options: Mapping[str, Any]
    """What the incidents were built from besides."""
    bars: tuple[str, ...]
    """The bars of `BARS` that are held here."""
    standings: tuple[Standing, ...]
    violations: tuple[Failure, ...]
    """Bars that fail; none is the aim."""
    within_chance: tuple[Failure, ...]
    """Means on the wrong side of a bar whose interval does not lie there whole."""

    def to_json(self) -> dict[str, Any]:
        """For a program: estimates as mean, lo and hi."""
        return {
            "env": self.env,
            "split": self.split,
            "suite": self.suite,
            "seeds": list(self.seeds),
            "options": dict(self.options),
            "bars": {bar: BARS[bar] for bar in self.bars},
            "rows": [_plain(standing) for standing in self.standings],
            "violations": [failure._asdict() for failure in self.violations],
            "within_chance": [failure._asdict() for failure in self.within_chance],
        }


def _plain(standing: Standing) -> dict[str, Any]:
    values = ((name, getattr(standing, name)) for name in asdict(standing))
    return {name: value._asdict() if isinstance(value, Estimate) else value for name, value in values}


def run_audit(
    probes: Probes,
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
    scenarios, standings, failures, chance = suite(probes.env, suite_name), [], [], []
    for tier in tiers:
        scripts = search(probes, tier, effort or Effort(), workers, progress)
        entrants = [*_listed(probes), *[entrant(probes.env, script) for script in scripts]]
        todo = incidents(scenarios, tier, split, seeds)
        played = _by_entrant(play_all(entrants, todo, probes.judge, workers, progress, probes.options))
        rows = [_standing(probes, tier, name, outcomes) for name, outcomes in played.items()]
        standings += rows
        for row in rows:
            judged = _judged(row, played, probes.bars)
            failures += [failure for failure, beyond in judged if beyond]
            chance += [failure for failure, beyond in judged if not beyond]
            failures += _above_ceiling(row, played[row.policy])
            failures += _not_void(probes, row, played[row.policy])
        failures += _paid_again(probes, incidents(scenarios, tier, split, seeds[:1]))
    found = (tuple(standings), tuple(failures), tuple(chance))
    return Audit(probes.env, split, suite_name, tuple(seeds), probes.options, probes.bars, *found)


def audit_episodes(probes: Probes, tiers: Sequence[str], seeds: Sequence[int], suite_name: str, effort: Effort) -> int:
    """About how many episodes an audit plays, for a progress bar."""
    entrants = len(_listed(probes)) + 2 * effort.finalists
    searched = effort_episodes(probes.env, effort)
    return len(tiers) * (searched + entrants * len(seeds) * len(suite(probes.env, suite_name)))


def _listed(probes: Probes) -> list[Entrant]:
    degenerate = [Entrant(name, partial(degenerate_team, probes.env, name)) for name in probes.recipes]
    # Some recipes are naive policies under another name: the named ones stand for both.
    shipped = [Entrant(name, partial(team, probes.env, name)) for name in (*probes.naive, *REFERENCES)]
    return [*[one for one in degenerate if one.name not in probes.naive], *shipped]


def _by_entrant(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    out = defaultdict(list)
    for outcome in outcomes:
        out[outcome.entrant].append(outcome)
    return dict(out)


def _kind(probes: Probes, policy: str) -> Kind:
    if policy in REFERENCES:
        return "reference"
    if policy in probes.naive:
        return "naive"
    if policy in probes.recipes:
        return "spoilt" if probes.recipes[policy].spoilt else "degenerate"
    return "searched"


def _standing(probes: Probes, tier: str, policy: str, outcomes: Sequence[Outcome]) -> Standing:
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    story = probes.recipes[policy].story if policy in probes.recipes else ""
    kind = _kind(probes, policy)
    return Standing(
        tier, policy, kind, story, len(outcomes),
        points=_mean([o.points for o in outcomes]),
        points_wrong=_mean([o.points for o in wrong]),
        score=_mean([o.score for o in outcomes]),
        solved=_share([o.solved for o in outcomes]),
        solved_wrong=_share([o.solved for o in wrong]),
        passive=all(o.passive for o in outcomes),
        feats=_feats(outcomes) if kind in ("naive", "degenerate", "searched") else {},
    )  # fmt: skip


def _feats(outcomes: Sequence[Outcome]) -> dict[str, float]:
    solved = defaultdict(list)
    for outcome in outcomes:
        solved[outcome.incident.scenario].append(outcome.solved)
    return {name: sum(found) / len(found) for name, found in solved.items() if sum(found) >= FEAT * len(found)}


def _mean(values: Sequence[float]) -> Estimate:
    return mean(values, range(len(values)))


def _share(values: Sequence[bool]) -> Estimate:
    return share(values, range(len(values)))


# -- the bars -------------------------------------------------------------------------------------------


Judged = list[tuple[Failure, bool]]
"""Bars on means that are missed, and whether beyond chance."""


def _judged(row: Standing, played: Mapping[str, Sequence[Outcome]], bars: Sequence[str]) -> Judged:
    """The bars that concern a policy of that kind."""
    out: Judged = []
    if row.kind in ("naive", "degenerate", "searched"):
        out += _negative(row)
    if row.kind in ("degenerate", "searched"):
        own, baseline = played[row.policy], played[BASELINE]
        out += [*_much(row), *_below(row, own, baseline), *_solves_less(row, own, baseline)]
    return [(failure, beyond) for failure, beyond in out if failure.bar in bars]


def _negative(row: Standing) -> Judged:
    if row.points.mean < 0:
        return []
    failure = Failure("negative", row.tier, row.policy, f"{row.points.mean:.1f} points")
    return [(failure, (row.points.lo or 0.0) > 0)]


def _much(row: Standing) -> Judged:
    if row.score.mean <= LITTLE:
        return []
    return [(Failure("little", row.tier, row.policy, f"score {row.score.mean:.2f}"), (row.score.lo or 0.0) > LITTLE)]


def _below(row: Standing, own: Sequence[Outcome], baseline: Sequence[Outcome]) -> Judged:
    gained = _difference(own, baseline, lambda o: o.points)
    detail = f"{gained.mean or 0.0:.1f} points more than the heuristic"
    return _above_zero(gained, Failure("below heuristic", row.tier, row.policy, detail))


def _solves_less(row: Standing, own: Sequence[Outcome], baseline: Sequence[Outcome]) -> Judged:
    wrong = [(a, b) for a, b in zip(own, baseline, strict=True) if a.wrong]
    more = _difference([a for a, _ in wrong], [b for _, b in wrong], lambda o: float(o.solved))
    detail = f"solves {100 * (more.mean or 0.0):.0f} in 100 more than the heuristic"
    return _above_zero(more, Failure("solves less", row.tier, row.policy, detail))


def _above_zero(difference: Difference, failure: Failure) -> Judged:
    if difference.mean is None or difference.mean <= ROUNDING:
        return []
    return [(failure, difference.lo is not None and difference.lo > ROUNDING)]


def _difference(own: Sequence[Outcome], other: Sequence[Outcome], value: Callable[[Outcome], float]) -> Difference:
    return paired([value(o) for o in own], [value(o) for o in other], range(len(own)))


def _above_ceiling(row: Standing, own: Sequence[Outcome]) -> list[Failure]:
    return [
        Failure(
            "ceiling", row.tier, row.policy,
            f"{o.points:.0f} points on {o.incident.scenario}, {seed_in_words(o.incident.seed)}; "
            f"the oracle {o.ceiling:.0f}",
        )
        for o in own
        if o.points > o.ceiling + ROUNDING
    ]  # fmt: skip


def _not_void(probes: Probes, row: Standing, own: Sequence[Outcome]) -> list[Failure]:
    if row.policy not in probes.recipes or not probes.recipes[row.policy].worthless:
        return []
    return [
        Failure(
            "void", row.tier, row.policy,
            f"{o.points:.0f} points on {o.incident.scenario}, {seed_in_words(o.incident.seed)}",
        )
        for o in own
        if o.wrong and o.points > ROUNDING
    ]  # fmt: skip


# -- repeated credits -----------------------------------------------------------------------------------


def _paid_again(probes: Probes, todo: Sequence[Incident]) -> list[Failure]:
    return [
        Failure(
            "paid once",
            incident.tier,
            f"{name}, every act twice",
            f"{detail} ({incident.scenario}, {seed_in_words(incident.seed)})",
        )
        for name in REPEATED
        for incident in todo
        for detail in repeated_payments(team(probes.env, name), incident, probes.options)
    ]


def repeated_payments(players: Team, incident: Incident, options: Mapping[str, Any] | None = None) -> list[str]:
    """Terms that rise when a call that was paid is made again, as the seat's next or after the end: none may."""
    env = make(*incident, **(options or {}))
    policies = {seat: players.seat(env, seat) for seat in env.SEATS}
    again, found, paid = dict[str, ToolCall](), list[str](), env.points()
    while not env.done:
        seat, before = env.seat, env.points()
        repeated = again.pop(seat, None)
        call = repeated or policies[seat].act(env.observe())
        env.step(call)
        after = env.points()
        risen = [term for term, value in after.items() if value > before[term]]
        if repeated is not None:
            found += [f"{call.name} raised {term} again" for term in risen]
        elif risen:
            again[seat] = call
        paid = after
    env.step(call)
    return found + [f"{call.name} after the end raised {t}" for t, value in env.points().items() if value > paid[t]]
