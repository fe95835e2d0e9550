"""`summary.json`: one row of metrics per (scenario, policy, tier), one pooled row per (policy, tier), and comparisons.

A metric is `{mean, lo, hi}` with a 95 % interval clustered by incident, or null where it does not apply: never 0 then.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from warroom.core.scenario import TIERS
from warroom.episode import Episode
from warroom.evals.calibration import CALIBRATION_METRICS, calibration
from warroom.evals.statistics import Difference, Estimate, mean, paired, pass_k, share

DIGITS = 6
"""Decimals in the file."""
COMPARED = (
    "points", "score", "solved", "rogue_catch", "rogue_false_positive", "mttr", "root_cause", "severity", "team",
    "fact_quality", "citation_f1", "escalated_answerable", "escalated_unanswerable",
)  # fmt: skip
"""Metrics that are compared with the baseline, where the environment has them."""


class Result(NamedTuple):
    """What the metrics need of an episode."""

    env: str
    scenario: str
    tier: str
    seed: int
    split: str
    policy: str
    points: float
    score: float
    outcome: Mapping[str, bool | float | None]
    terms: Mapping[str, float] = {}
    """Points by term of the rubric."""

    @property
    def incident(self) -> tuple[str, str, int]:
        """What several episodes may share."""
        return self.scenario, self.tier, self.seed


Horizons = Mapping[str, float]
"""Minutes at which an unresolved incident is censored, by tier."""
Reader = Callable[[Result, Horizons], bool | float | None]
"""A metric of one episode; None where it does not apply."""


def result_of(episode: Episode) -> Result:
    """The part of an episode that a summary needs."""
    e = episode
    return Result(e.env, e.scenario, e.tier, e.seed, e.split, e.policy, e.total, e.score, e.outcome, e.points)


def _outcome(name: str) -> Reader:
    return lambda result, horizons: result.outcome.get(name)


def _minutes(result: Result, horizons: Horizons) -> float | None:
    """Minutes to resolve, at most the horizon; an incident that needed no resolving has none."""
    minutes = result.outcome.get("mttr")
    if "mttr" not in result.outcome or (minutes is None and result.outcome.get("solved") is not False):
        return None
    return horizons[result.tier] if minutes is None else min(float(minutes), horizons[result.tier])


def _fixed_given(right: bool) -> Reader:
    def read(result: Result, horizons: Horizons) -> bool | float | None:
        return result.outcome.get("solved") if result.outcome.get("declared_right") is right else None

    return read


METRICS: dict[str, Reader] = {
    "points": lambda result, horizons: result.points,
    "score": lambda result, horizons: result.score,
    "solved": _outcome("solved"),
    "rogue_catch": _outcome("rogue_catch"),
    "rogue_false_positive": _outcome("rogue_false_positive"),
    "wrong_fixes": _outcome("wrong_fixes"),
    "mttr": _minutes,
    "fixed_given_right": _fixed_given(True),
    "fixed_given_wrong": _fixed_given(False),
}
"""Columns that every row has; further outcomes of an environment follow under their own names."""
SHARE = (0.0, 1.0)
BOUNDS = {
    "score": (-1.0, 1.0), "wrong_fixes": (0.0, inf), "citation_f1": SHARE, "fact_quality": SHARE, "confidence": SHARE,
    "rouge_l": SHARE, "brier": SHARE, "judged": SHARE,
}  # fmt: skip
"""What a mean cannot pass, and so no end of its interval."""


def summarise(results: Iterable[Result], policies: Sequence[str], baseline: str | None = None) -> dict[str, Any]:
    """The content of `summary.json`: the same for the same results, whatever order they come in.

    `policies` gives the order of the rows; `baseline` is the one that the others are compared with.
    """
    ordered = sorted(results, key=lambda r: (TIERS.index(r.tier), r.scenario, r.seed, policies.index(r.policy)))
    if not ordered:
        raise ValueError("the run has no episodes; there is nothing to sum up")
    limits, readers = horizons(ordered), readers_of(ordered)
    return {
        "env": ordered[0].env,
        "split": ordered[0].split,
        "episodes": len(ordered),
        "interval": "95 %, clustered by incident (scenario, tier, seed)",
        "horizon_minutes": limits,
        "baseline": baseline,
        "rows": rows(ordered, policies, readers, limits),
        "comparisons": comparisons(ordered, policies, readers, limits, baseline) if baseline else [],
    }


def readers_of(results: Sequence[Result]) -> dict[str, Reader]:
    """The columns of these results: the fixed ones, then the environment's own by alphabet."""
    extra = sorted({name for r in results for name in r.outcome} - set(METRICS))
    return METRICS | {name: _outcome(name) for name in extra}


def horizons(results: Sequence[Result]) -> dict[str, float]:
    """The longest that any episode of a tier lasted, in minutes: what censors the unresolved ones."""
    out: dict[str, float] = {}
    for r in results:
        lasted = max(float(r.outcome.get(name) or 0) for name in ("mttr", "turns"))
        out[r.tier] = max(out.get(r.tier, 0.0), lasted)
    return out


def rows(
    results: Sequence[Result], policies: Sequence[str], readers: Mapping[str, Reader], limits: Horizons
) -> list[dict[str, Any]]:
    """A row per (policy, tier) with scenario null, then one per scenario besides."""
    cells: dict[tuple[str | None, str, str], list[Result]] = {}
    for r in results:
        for scenario in (None, r.scenario):
            cells.setdefault((scenario, r.tier, r.policy), []).append(r)

    def place(cell: tuple[str | None, str, str]) -> tuple[str, int, int]:
        return cell[0] or "", TIERS.index(cell[1]), policies.index(cell[2])

    return [_row(cell, cells[cell], readers, limits) for cell in sorted(cells, key=place)]


def _row(
    cell: tuple[str | None, str, str], results: Sequence[Result], readers: Mapping[str, Reader], limits: Horizons
) -> dict[str, Any]:
    scenario, tier, policy = cell
    first = results[0]
    out: dict[str, Any] = {"env": first.env, "scenario": scenario, "policy": policy, "tier": tier, "split": first.split}
    out |= {"n": len(results), "incidents": len({r.incident for r in results})}
    out |= {name: _as_json(estimate(results, name, reader, limits)) for name, reader in readers.items()}
    out |= {name: _as_json(found) for name, found in _calibration(results).items()}
    return out | {"pass_k": _as_json(_pass_k(results))}


def _calibration(results: Sequence[Result]) -> dict[str, Estimate | None]:
    """Figures of stated confidence against the verified outcome, where a policy states any; else none."""
    said = [
        (float(c), bool(r.outcome["solved"]), r.incident)
        for r in results
        if (c := r.outcome.get("confidence")) is not None
    ]
    if not said:
        return dict.fromkeys(CALIBRATION_METRICS) if any("confidence" in r.outcome for r in results) else {}
    confidences, verified, incidents = zip(*said, strict=True)
    return calibration(confidences, verified, incidents)


def estimate(results: Sequence[Result], name: str, reader: Reader, limits: Horizons) -> Estimate | None:
    """The metric `name` over some episodes of one tier, or None where it applies to none of them."""
    found = [(value, r.incident) for r in results if (value := reader(r, limits)) is not None]
    if not found:
        return None
    values, incidents = zip(*found, strict=True)
    if all(type(value) is bool for value in values):
        return share(values, incidents)
    return mean(values, incidents, _bounds(name, values, limits[results[0].tier]))


def _bounds(metric: str, values: Sequence[bool | float], horizon: float) -> tuple[float, float]:
    """What no value of the metric can pass."""
    if metric == "mttr":
        return 0.0, horizon
    return BOUNDS.get(metric, SHARE if all(type(value) is bool for value in values) else (-inf, inf))


def _pass_k(results: Sequence[Result]) -> Estimate | None:
    """Share of incidents that every attempt solves; None with single attempts."""
    attempts: dict[tuple[str, str, int], list[bool]] = {}
    for r in results:
        if r.outcome.get("solved") is not None:
            attempts.setdefault(r.incident, []).append(bool(r.outcome["solved"]))
    k = min(map(len, attempts.values()), default=0)
    if k < 2:
        return None
    chances = [pass_k(sum(solved), len(solved), k) for solved in attempts.values()]
    if all(chance in (0.0, 1.0) for chance in chances):
        return share([chance == 1.0 for chance in chances], list(attempts))
    return mean(chances, list(attempts), (0.0, 1.0))


def comparisons(
    results: Sequence[Result],
    policies: Sequence[str],
    readers: Mapping[str, Reader],
    limits: Horizons,
    baseline: str,
) -> list[dict[str, Any]]:
    """Each policy against the baseline on the same incidents, by tier and metric."""
    if baseline not in policies:
        raise ValueError(f"the baseline {baseline!r} did not play; these did: {', '.join(policies)}")
    out = []
    for tier in dict.fromkeys(r.tier for r in results):
        by_policy = {p: [r for r in results if r.tier == tier and r.policy == p] for p in policies}
        for policy in policies:
            for metric in [name for name in COMPARED if name in readers] if policy != baseline else ():
                found = difference(by_policy[policy], by_policy[baseline], metric, readers[metric], limits, tier)
                if found is not None:
                    out.append(
                        {"tier": tier, "policy": policy, "baseline": baseline, "metric": metric, **as_row(found)}
                    )
    return out


def difference(
    first: Sequence[Result], second: Sequence[Result], metric: str, reader: Reader, limits: Horizons, place: str
) -> Difference | None:
    """First less second on the incidents where the metric applies to both; None if there are none."""
    one, other = _by_incident(first, reader, limits), _by_incident(second, reader, limits)
    shared = [incident for incident in one if incident in other]
    if not shared:
        return None
    values = [value for r in (*first, *second) if (value := reader(r, limits)) is not None]
    bounds = _bounds(metric, values, max(limits.values()))
    return paired([one[i] for i in shared], [other[i] for i in shared], shared, f"{place} {metric}", bounds)


def _by_incident(results: Sequence[Result], reader: Reader, limits: Horizons) -> dict[tuple[str, str, int], float]:
    """The metric's mean over the attempts at each incident."""
    found: dict[tuple[str, str, int], list[float]] = {}
    for r in results:
        value = reader(r, limits)
        if value is not None:
            found.setdefault(r.incident, []).append(float(value))
    return {incident: sum(values) / len(values) for incident, values in found.items()}


def as_row(found: Difference) -> dict[str, Any]:
    """A difference as the files hold it."""
    interval = _as_json(Estimate(found.mean, found.lo, found.hi))
    return {"difference": interval, "p": round(found.p, DIGITS), "incidents": found.incidents}


def _as_json(found: Estimate | None) -> dict[str, float | None] | None:
    if found is None:
        return None
    return {name: None if end is None else round(end, DIGITS) + 0.0 for name, end in found._asdict().items()}
