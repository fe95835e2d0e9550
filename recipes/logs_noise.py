"""The declared and the measured share of lines that have nothing to do with the incident, by family and tier.

python recipes/logs_noise.py [SEEDS]: a minute for 50 seeds of the test split.
"""

import sys
from collections.abc import Sequence
from typing import NamedTuple

from warroom.core.scenario import TIERS
from warroom.envs import make, suite
from warroom.envs.logs.env import LogsEnv
from warroom.evals.audit.outcomes import IncidentKey, incidents


class NoiseMeasurement(NamedTuple):
    """Lines that were shown in some incidents, and how many of them are unrelated to the fault."""

    lines: int
    declared: float
    """Unrelated lines according to the incidents' own noise levels."""
    measured: int

    @property
    def deviation(self) -> float:
        """Measured less declared share, -1 to 1; there must be lines."""
        return (self.measured - self.declared) / self.lines


def measure_noise(incidents: Sequence[IncidentKey]) -> NoiseMeasurement:
    """Read every observation of incidents in which nobody acts, to the end of their budgets."""
    lines, declared, measured = 0, 0.0, 0
    for incident in incidents:
        env = make(*incident)
        assert isinstance(env, LogsEnv)
        while not env.done:
            env.observe()
            env.step(env.brief(env.seat).noop_call)
        shown = env.related + env.unrelated
        lines, measured, declared = lines + shown, measured + env.unrelated, declared + shown * env.incident.noise
    return NoiseMeasurement(lines, declared, measured)


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    print("| family | tier | lines | declared % | measured % |\n| --- | --- | --- | --- | --- |")
    for scenario in suite("logs", "full"):
        for tier in TIERS:
            found = measure_noise(incidents([scenario], tier, "test", range(seeds)))
            if found.lines:  # where nothing is wrong no line is related
                shares = [f"{100 * part / found.lines:.1f}" for part in (found.declared, found.measured)]
                print("| " + " | ".join([scenario, tier, str(found.lines), *shares]) + " |", flush=True)


if __name__ == "__main__":
    main()
