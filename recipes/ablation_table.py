"""The table of `recipes/ablation.sh`: what each variant reached on the test incidents, and what training changed.

Scores are compared incident by incident with those of the variant's start; intervals are clustered by incident, over
all seeds of the training.
"""

import json
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from warroom.core.scenario import TIERS
from warroom.evals.statistics import Difference, paired

STARTS = {"small": "warm-32"}
"""The start of a variant, where it is not that of the usual size."""
SHARES = {"solved": "solved %", "rogue_catch": "rogues caught %", "rogue_false_positive": "innocents flagged %"}


class Evaluation(NamedTuple):
    """One evaluation of one training."""

    seed: str
    folder: Path

    def scores(self, tier: str) -> dict[str, float]:
        """By incident."""
        return {spec: score for spec, score in all_scores(self.folder).items() if f"@{tier}" in spec}

    def share(self, tier: str, metric: str) -> str:
        """In per cent; a dash where there was no such incident."""
        rows = json.loads((self.folder / "summary.json").read_text())["rows"]
        (found,) = [row[metric] for row in rows if row["scenario"] is None and row["tier"] == tier]
        return f"{100 * found['mean']:.0f}" if found else "-"


@cache
def all_scores(folder: Path) -> dict[str, float]:
    """By incident."""
    episodes = [json.loads(line) for line in (folder / "episodes.jsonl").open()]
    return {one["spec"]: one["score"] for one in episodes}


def change(trained: list[Evaluation], start: list[Evaluation], tier: str) -> Difference:
    """Of the score by training."""
    before = {one.seed: one.scores(tier) for one in start}
    after = [(one.seed, spec, score) for one in trained for spec, score in one.scores(tier).items()]
    untrained = [before[seed][spec] for seed, spec, _ in after]
    return paired([score for *_, score in after], untrained, [spec for _, spec, _ in after])


def row(variant: str, tier: str, found: list[Evaluation], start: list[Evaluation]) -> list[str]:
    """Means over the seeds, and beside the change those of each seed."""
    scores = [score for one in found for score in one.scores(tier).values()]
    shares = [" / ".join([one.share(tier, metric) for one in found]) for metric in SHARES]
    shown = [variant, tier, f"{sum(scores) / len(scores):.2f}", *shares]
    if found == start:
        return [*shown, "", ""]
    changed, by_seed = change(found, start, tier), [change([one], start, tier).mean for one in found]
    span = f"{changed.mean:+.2f} ({changed.lo:+.2f} to {changed.hi:+.2f})"
    return [*shown, span, " / ".join([f"{one:+.2f}" for one in by_seed])]


def main() -> None:
    by_variant: dict[str, list[Evaluation]] = {}
    for path in sorted(Path(sys.argv[1]).glob("seed-*/*-eval/summary.json")):
        name = path.parent.name.removesuffix("-eval")
        by_variant.setdefault(name, []).append(Evaluation(path.parent.parent.name, path.parent))
    head = ["variant", "tier", "score", *SHARES.values(), "change of score (95 %)", "by seed"]
    lines = [head, ["---"] * len(head)]
    for variant, found in by_variant.items():
        start = by_variant[variant if variant.startswith("warm") else STARTS.get(variant, "warm-64")]
        lines += [row(variant, tier, found, start) for tier in TIERS]
    for line in lines:
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
