"""The laws of the logs over many incidents: docs/experiments/2026-11-logs-that-read-like-logs.md.

python recipes/logs_laws.py [incidents] [first]
"""

import sys
from collections import Counter

from warroom.evals.audit.logs.consistency import LAWS, TIERS, ObservedLaws, incident_of, violations
from warroom.sim.outage_tiers import OUTAGE_TIERS

REPORTED = 50
"""Incidents after which the state is printed: two thousand take a quarter of an hour of processor time."""


def main(incidents: int, first: int) -> None:
    """Print the violations of each law, and what is counted over all incidents."""
    broken, tally = Counter[str](), ObservedLaws()
    for number in range(first, first + incidents):
        env = incident_of(number)
        tally.add(env)
        for problem in violations(env):
            broken[problem.partition(":")[0]] += 1
            print(f"incident {number} ({env.scenario}, {env.tier}): {problem}", flush=True)
        if (number + 1 - first) % REPORTED == 0:
            print(f"{number + 1 - first} incidents: {broken.total()} violations", flush=True)
    for law in LAWS:
        print(f"{law.__name__}: {broken[law.__name__]} violations in {incidents} incidents")
    for remedy, count in sorted(tally.remedies.items()):
        print(f"{remedy}: right in {100 * count / incidents:.1f} % of incidents")
    for tier in TIERS:
        print(f"{tier}: {tally.noise(tier):.3f} of the lines are noise, declared {OUTAGE_TIERS[tier].page_noise}")
    for run, count in tally.runs.most_common(5):
        print(f"'{run}': on {100 * count / incidents:.1f} % of pages")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
