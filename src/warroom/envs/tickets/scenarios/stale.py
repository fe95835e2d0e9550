"""A newer article replaces an older one that still comes up."""

from warroom.envs.tickets.scenario import scenario

SCENARIO = scenario(__name__, __doc__, tests=("stale",))
