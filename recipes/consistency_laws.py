"""The laws of telling over many incidents of both groups of splits: docs/experiments/2026-11-seen-and-predicted.md.

python recipes/consistency_laws.py [incidents] [first]
"""

import sys
from collections import Counter

from warroom.core.splits import Split
from warroom.evals.audit.fleet.consistency import LAWS, violations


def main(incidents: int, first: int) -> None:
    """Print how many violations each law has."""
    found: Counter[str] = Counter()
    for seed in range(first, first + incidents):
        for problem in violations(seed, (Split.TRAIN, Split.TEST)[seed % 2]):
            found[problem.split(": ")[1]] += 1
            print(problem)
    for law in LAWS:
        print(f"{law.__name__}: {found[law.__name__]} violations in {incidents} incidents")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
