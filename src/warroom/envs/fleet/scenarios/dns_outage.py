"""A service's resolver goes stale, and its calls to others fail before they leave."""

from warroom.envs.fleet.scenario import scenario

SCENARIO = scenario(__name__, __doc__, core=True)
