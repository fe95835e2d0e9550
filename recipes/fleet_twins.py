"""The table of twins in docs/experiments/2026-11-fleet-audit.md: does the expert judge both of two incidents rightly
that differ in one paper?

    python recipes/fleet_twins.py 10

Plays so many seeds of the test split for each scenario of the full suite and each tier.
"""

import sys

from warroom.core.scenario import TIERS
from warroom.core.splits import seed_of
from warroom.envs import suite
from warroom.evals.audit.fleet.twins import judge_twins, shares_right


def main(count: int) -> None:
    """Print a row a tier."""
    for tier in TIERS:
        shares = shares_right(judge_twins(tier, suite("fleet", "full"), [seed_of("test", k) for k in range(count)]))
        right, pairs = (sum([share[k] for share in shares.values()]) for k in (0, 1))
        parts = [f"{paper} {a} of {b}" for paper, (a, b) in shares.items()]
        print(f"{tier}: both right in {right} of {pairs} pairs ({right / pairs:.0%}); {', '.join(parts)}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
