"""The audit: what policies that weigh no evidence can get, held against bars, with every bar that fails named.

A bar on means fails when the whole 95 % interval lies on the wrong side; a mean that lies there within chance is
reported apart, so that more incidents can decide it.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from warroom.core.splits import format_seed, parse_split
from warroom.core.types import ToolCall
from warroom.envs import make, suite
from warroom.evals.audit.outcomes import Candidate, Incident, IncidentOutcome, Progress, incidents, play_all
from warroom.evals.audit.search import SearchBudget, candidate, search, search_episode_count
from warroom.evals.audit.spec import AuditSpec, degenerate_policy_set
from warroom.evals.statistics import Difference, Estimate, mean, paired, share
from warroom.policies import PolicySet, policy_set

Kind = Literal["reference", "naive", "degenerate", "perturbed", "searched"]

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
BASELINE_POLICY = "heuristic"
REFERENCE_POLICIES = ("expert", "oracle")
REPEATED_POLICIES = ("oracle", "expert", BASELINE_POLICY, "random")
"""Policies whose calls are played twice over, to see whether a repetition is paid."""
MAX_BLIND_SCORE = 0.3
"""Mean score that a policy which weighs no evidence may have."""
TOLERANCE = 1e-9
SOLVED_SHARE = 0.5
"""Share of the incidents of one scenario from which a policy that weighs no evidence is named for solving them."""


@dataclass(frozen=True)
class PolicySummary:
    """What one policy got on one tier."""

    tier: str
    policy: str
    kind: Kind
    description: str
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
    mostly_solved: Mapping[str, float]
    """Shares solved of those scenarios of which it solves half or more: each of them alone would tell little."""


class Violation(NamedTuple):
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
    summaries: tuple[PolicySummary, ...]
    violations: tuple[Violation, ...]
    """Bars that fail; none is the aim."""
    within_chance: tuple[Violation, ...]
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
            "rows": [_row_json(summary) for summary in self.summaries],
            "violations": [violation._asdict() for violation in self.violations],
            "within_chance": [violation._asdict() for violation in self.within_chance],
        }


def _row_json(summary: PolicySummary) -> dict[str, Any]:
    values = ((name, getattr(summary, name)) for name in asdict(summary))
    return {name: value._asdict() if isinstance(value, Estimate) else value for name, value in values}


def run_audit(
    audit_spec: AuditSpec,
    tiers: Sequence[str],
    seeds: Sequence[int],
    suite_name: str = "full",
    workers: int = 2,
    split: str = "dev",
    progress: Progress = lambda count: None,
    budget: SearchBudget | None = None,
) -> Audit:
    """Play every naive, degenerate and searched policy on the same incidents and hold them against the bars.

    `seeds` are indices into the split. Scripts are searched on the training split, with the given effort.
    """
    parse_split(split)  # refused before the search begins
    scenarios, summaries, violations, chance = suite(audit_spec.env, suite_name), [], [], []
    for tier in tiers:
        scripts = search(audit_spec, tier, budget or SearchBudget(), workers, progress)
        candidates = [*_listed_candidates(audit_spec), *[candidate(audit_spec.env, script) for script in scripts]]
        todo = incidents(scenarios, tier, split, seeds)
        played = _by_candidate(
            play_all(candidates, todo, audit_spec.outcome_rules, workers, progress, audit_spec.options)
        )
        rows = [_policy_summary(audit_spec, tier, name, outcomes) for name, outcomes in played.items()]
        summaries += rows
        for row in rows:
            judged = _violations_of(row, played, audit_spec.bars)
            violations += [violation for violation, beyond in judged if beyond]
            chance += [violation for violation, beyond in judged if not beyond]
            violations += _above_ceiling(row, played[row.policy])
            violations += _void_violations(audit_spec, row, played[row.policy])
        violations += _repeated_payment_violations(audit_spec, incidents(scenarios, tier, split, seeds[:1]))
    found = (tuple(summaries), tuple(violations), tuple(chance))
    return Audit(audit_spec.env, split, suite_name, tuple(seeds), audit_spec.options, audit_spec.bars, *found)


def audit_episode_count(
    audit_spec: AuditSpec, tiers: Sequence[str], seeds: Sequence[int], suite_name: str, budget: SearchBudget
) -> int:
    """About how many episodes an audit plays, for a progress bar."""
    candidates = len(_listed_candidates(audit_spec)) + 2 * budget.finalists
    searched = search_episode_count(audit_spec.env, budget)
    return len(tiers) * (searched + candidates * len(seeds) * len(suite(audit_spec.env, suite_name)))


def _listed_candidates(audit_spec: AuditSpec) -> list[Candidate]:
    degenerate = [Candidate(name, partial(degenerate_policy_set, audit_spec.env, name)) for name in audit_spec.exploits]
    # Some recipes are naive policies under another name: the named ones stand for both.
    shipped = [
        Candidate(name, partial(policy_set, audit_spec.env, name)) for name in (*audit_spec.naive, *REFERENCE_POLICIES)
    ]
    return [*[one for one in degenerate if one.name not in audit_spec.naive], *shipped]


def _by_candidate(outcomes: Sequence[IncidentOutcome]) -> dict[str, list[IncidentOutcome]]:
    out = defaultdict(list)
    for outcome in outcomes:
        out[outcome.candidate].append(outcome)
    return dict(out)


def _kind(audit_spec: AuditSpec, policy: str) -> Kind:
    if policy in REFERENCE_POLICIES:
        return "reference"
    if policy in audit_spec.naive:
        return "naive"
    if policy in audit_spec.exploits:
        return "perturbed" if audit_spec.exploits[policy].perturbed else "degenerate"
    return "searched"


def _policy_summary(
    audit_spec: AuditSpec, tier: str, policy: str, outcomes: Sequence[IncidentOutcome]
) -> PolicySummary:
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    description = audit_spec.exploits[policy].description if policy in audit_spec.exploits else ""
    kind = _kind(audit_spec, policy)
    return PolicySummary(
        tier, policy, kind, description, len(outcomes),
        points=_mean([o.points for o in outcomes]),
        points_wrong=_mean([o.points for o in wrong]),
        score=_mean([o.score for o in outcomes]),
        solved=_share([o.solved for o in outcomes]),
        solved_wrong=_share([o.solved for o in wrong]),
        passive=all(o.passive for o in outcomes),
        mostly_solved=_mostly_solved(outcomes) if kind in ("naive", "degenerate", "searched") else {},
    )  # fmt: skip


def _mostly_solved(outcomes: Sequence[IncidentOutcome]) -> dict[str, float]:
    solved = defaultdict(list)
    for outcome in outcomes:
        solved[outcome.incident.scenario].append(outcome.solved)
    return {name: sum(found) / len(found) for name, found in solved.items() if sum(found) >= SOLVED_SHARE * len(found)}


def _mean(values: Sequence[float]) -> Estimate:
    return mean(values, range(len(values)))


def _share(values: Sequence[bool]) -> Estimate:
    return share(values, range(len(values)))


# -- the bars -------------------------------------------------------------------------------------------


Violations = list[tuple[Violation, bool]]
"""Bars on means that are missed, and whether beyond chance."""


def _violations_of(
    row: PolicySummary, played: Mapping[str, Sequence[IncidentOutcome]], bars: Sequence[str]
) -> Violations:
    """The bars that concern a policy of that kind."""
    out: Violations = []
    if row.kind in ("naive", "degenerate", "searched"):
        out += _negative(row)
    if row.kind in ("degenerate", "searched"):
        own, baseline = played[row.policy], played[BASELINE_POLICY]
        out += [*_score_too_high(row), *_above_heuristic(row, own, baseline), *_solves_less(row, own, baseline)]
    return [(violation, beyond) for violation, beyond in out if violation.bar in bars]


def _negative(row: PolicySummary) -> Violations:
    if row.points.mean < 0:
        return []
    violation = Violation("negative", row.tier, row.policy, f"{row.points.mean:.1f} points")
    return [(violation, (row.points.lo or 0.0) > 0)]


def _score_too_high(row: PolicySummary) -> Violations:
    if row.score.mean <= MAX_BLIND_SCORE:
        return []
    return [
        (
            Violation("little", row.tier, row.policy, f"score {row.score.mean:.2f}"),
            (row.score.lo or 0.0) > MAX_BLIND_SCORE,
        )
    ]


def _above_heuristic(
    row: PolicySummary, own: Sequence[IncidentOutcome], baseline: Sequence[IncidentOutcome]
) -> Violations:
    gained = _difference(own, baseline, lambda o: o.points)
    detail = f"{gained.mean or 0.0:.1f} points more than the heuristic"
    return _above_zero(gained, Violation("below heuristic", row.tier, row.policy, detail))


def _solves_less(row: PolicySummary, own: Sequence[IncidentOutcome], baseline: Sequence[IncidentOutcome]) -> Violations:
    wrong = [(a, b) for a, b in zip(own, baseline, strict=True) if a.wrong]
    more = _difference([a for a, _ in wrong], [b for _, b in wrong], lambda o: float(o.solved))
    detail = f"solves {100 * (more.mean or 0.0):.0f} in 100 more than the heuristic"
    return _above_zero(more, Violation("solves less", row.tier, row.policy, detail))


def _above_zero(difference: Difference, violation: Violation) -> Violations:
    if difference.mean is None or difference.mean <= TOLERANCE:
        return []
    return [(violation, difference.lo is not None and difference.lo > TOLERANCE)]


def _difference(
    own: Sequence[IncidentOutcome], other: Sequence[IncidentOutcome], value: Callable[[IncidentOutcome], float]
) -> Difference:
    return paired([value(o) for o in own], [value(o) for o in other], range(len(own)))


def _above_ceiling(row: PolicySummary, own: Sequence[IncidentOutcome]) -> list[Violation]:
    return [
        Violation(
            "ceiling", row.tier, row.policy,
            f"{o.points:.0f} points on {o.incident.scenario}, {format_seed(o.incident.seed)}; "
            f"the oracle {o.ceiling:.0f}",
        )
        for o in own
        if o.points > o.ceiling + TOLERANCE
    ]  # fmt: skip


def _void_violations(audit_spec: AuditSpec, row: PolicySummary, own: Sequence[IncidentOutcome]) -> list[Violation]:
    if row.policy not in audit_spec.exploits or not audit_spec.exploits[row.policy].voids_credit:
        return []
    return [
        Violation(
            "void", row.tier, row.policy,
            f"{o.points:.0f} points on {o.incident.scenario}, {format_seed(o.incident.seed)}",
        )
        for o in own
        if o.wrong and o.points > TOLERANCE
    ]  # fmt: skip


# -- repeated credits -----------------------------------------------------------------------------------


def _repeated_payment_violations(audit_spec: AuditSpec, todo: Sequence[Incident]) -> list[Violation]:
    return [
        Violation(
            "paid once",
            incident.tier,
            f"{name}, every act twice",
            f"{detail} ({incident.scenario}, {format_seed(incident.seed)})",
        )
        for name in REPEATED_POLICIES
        for incident in todo
        for detail in repeated_payments(policy_set(audit_spec.env, name), incident, audit_spec.options)
    ]


def repeated_payments(players: PolicySet, incident: Incident, options: Mapping[str, Any] | None = None) -> list[str]:
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
