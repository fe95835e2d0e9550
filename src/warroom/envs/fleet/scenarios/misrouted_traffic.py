"""A routing agent sends a service's traffic to a pool that cannot answer it."""

from warroom.envs.fleet.scenario import scenario

SCENARIO = scenario(__name__, __doc__, core=True)
