"""A flag agent turns on a feature that makes every request to a service cost several times the work."""

from warroom.envs.fleet.scenario import scenario

SCENARIO = scenario(__name__, __doc__)
