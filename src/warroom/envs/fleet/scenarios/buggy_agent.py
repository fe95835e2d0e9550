"""An agent repeats itself without sense or effect, and something unrelated breaks by itself."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from warroom.envs.fleet.scenario import FailureScenario, IncidentSpec, natural_failures, variant


def draw(rng: Random, failures: Mapping[str, FailureScenario]) -> IncidentSpec:
    """Any failure that no agent causes, with one harmless agent caught in a loop."""
    chosen = rng.choice(natural_failures(failures))
    return IncidentSpec(chosen.name, replace(chosen.fault_spec, stuck=True))


SCENARIO = variant(__name__, __doc__, draw)
