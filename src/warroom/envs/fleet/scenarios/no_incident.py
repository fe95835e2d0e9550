"""A hiccup pages everyone and is over before anyone can act: the right answer is to close, and to touch nothing."""

from random import Random

from warroom.envs.fleet.scenario import NO_INCIDENT, Failure, Plot, arm
from warroom.sim.faults import BLIP
from warroom.sim.incident import Cast


def draw(rng: Random, failures: dict[str, Failure]) -> Plot:
    """Always the same: nothing."""
    return Plot(NO_INCIDENT, Cast(BLIP))


SCENARIO = arm(__name__, __doc__, draw)
