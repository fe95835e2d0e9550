"""A hiccup pages everyone and is over before anyone can act: the right answer is to close, and to touch nothing."""

from collections.abc import Mapping
from random import Random

from warroom.envs.fleet.scenario import NO_INCIDENT, FailureScenario, IncidentSpec, variant
from warroom.sim.faults import BLIP
from warroom.sim.incident import FaultSpec


def draw(rng: Random, failures: Mapping[str, FailureScenario]) -> IncidentSpec:
    """Always the same: nothing."""
    return IncidentSpec(NO_INCIDENT, FaultSpec(BLIP))


SCENARIO = variant(__name__, __doc__, draw)
