"""The share of lines that have nothing to do with the incident, as pages show it: it has to be the declared one."""

from collections.abc import Sequence
from typing import NamedTuple

from warroom.envs import make
from warroom.evals.logs.moves import triage_of
from warroom.evals.outcomes import Incident


class NoiseMeasurement(NamedTuple):
    """Of some incidents, in lines: how many were shown while something was wrong, and how many of them mean nothing."""

    lines: int
    declared: float
    """As the incidents declare it."""
    measured: int

    @property
    def deviation(self) -> float:
        """By how much the measured share is off the declared one, 0 to 1 either way; there must be lines."""
        return (self.measured - self.declared) / self.lines


def measure_noise(incidents: Sequence[Incident]) -> NoiseMeasurement:
    """Read every page of incidents that nobody touches, to the end of their budgets."""
    lines, declared, measured = 0, 0.0, 0
    for incident in incidents:
        env = triage_of(make(*incident))
        while not env.done:
            env.observe()
            env.step(env.brief(env.seat).noop_call)
        shown = env.related + env.unrelated
        lines, measured, declared = lines + shown, measured + env.unrelated, declared + shown * env.incident.noise
    return NoiseMeasurement(lines, declared, measured)
