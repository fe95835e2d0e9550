"""The declared and the measured share of lines that have nothing to do with the incident, by family and tier.

python recipes/logs_noise.py [SEEDS]: a minute for 50 seeds of the test split.
"""

import sys

from warroom.core.scenario import TIERS
from warroom.envs import suite
from warroom.evals.logs.noise import measure_noise
from warroom.evals.outcomes import incidents

SEEDS = int(sys.argv[1]) if len(sys.argv) > 1 else 50


def main() -> None:
    print("| family | tier | lines | declared % | measured % |\n| --- | --- | --- | --- | --- |")
    for scenario in suite("logs", "full"):
        for tier in TIERS:
            found = measure_noise(incidents([scenario], tier, "test", range(SEEDS)))
            if found.lines:  # where nothing is wrong no line is related
                shares = [f"{100 * part / found.lines:.1f}" for part in (found.declared, found.measured)]
                print("| " + " | ".join([scenario, tier, str(found.lines), *shares]) + " |", flush=True)


if __name__ == "__main__":
    main()
