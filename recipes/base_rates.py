"""The table of docs/experiments/2026-11-base-rates-of-the-casting.md.

    python recipes/base_rates.py 9600

Draws so many incidents a tier of the full suite, and as many that a change caused, from which who hit is measured. The
rows of boosted trees need scikit-learn.
"""

import sys
from pathlib import Path
from time import process_time

from warroom.evals.audit.fleet.shortcuts import ONE_GROUND, READERS, SHORTCUTS, shortcut_values

from warroom.core.scenario import TIERS
from warroom.evals.audit.fleet.base_rates import CAUSES, FLAWED, HIT, draw_castings, hit_rates, rogue_rates, scores_of
from warroom.evals.audit.fleet.observables import CandidateRow, candidate_rows
from warroom.evals.audit.fleet.skeletons import skeleton
from warroom.sim.causes import CandidateRole
from warroom.sim.certificate import certificate
from warroom.sim.families import FAMILIES

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from learned_attacks.casting import boosted_auroc


def main(tier: str, count: int) -> None:
    start = process_time()
    castings = draw_castings(tier, count)
    spent = (process_time() - start) / count
    print(
        f"\n{tier}: {count} incidents, {1e6 * spent:.0f} us each, "
        f"{sum(c.redraws for c in castings) / count:.2f} redraws"
    )
    print(
        f"certificate empty: {sum(not certificate(c) for c in castings)}; "
        f"skeletons: {len(set(map(skeleton, castings)))}"
    )
    by_a_change = [name for name, cause in CAUSES.items() if isinstance(cause, CandidateRole)]
    caused = candidate_rows(draw_castings(tier, count, first=count, scenarios=by_a_change))
    for question, rows in ((HIT, caused), (FLAWED, candidate_rows(castings))):
        columns = CandidateRow.all_papers if question is HIT else lambda row: row.open
        for pairs in (False, True):
            best = scores_of(rows, question, columns, pairs=pairs)[0]
            print(f"{question.name}: {'pair' if pairs else 'single'} {best.auroc:.3f} +- {best.error:.3f} {best.names}")
        print(f"{question.name}: boosted trees {boosted_auroc(rows, question, columns).auroc:.3f}")
        for family in FAMILIES:
            present = [row for row in rows if family in row.families]
            best = scores_of(present, question, columns, pairs=False)[0]
            print(f"  {family} present: {best.auroc:.3f} +- {best.error:.3f} {best.names}")
    print(
        "hits by role:",
        ", ".join(f"{r.role.family}{'*' * r.role.by_colleague} {r.hits}/{r.expected:.0f}" for r in hit_rates(caused)),
    )
    print("P(rogue):", ", ".join(f"{name} {rate:.2f}" for name, rate in rogue_rates(castings).items()))
    for rules in (SHORTCUTS, ONE_GROUND, READERS):
        for name, value in shortcut_values(castings, rules).items():
            print(f"  {name}: {value:.2f}")


if __name__ == "__main__":
    for tier in TIERS:
        main(tier, int(sys.argv[1]))
