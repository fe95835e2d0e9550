"""A colleague pushes a configuration under which a service fails a share of its requests."""

from warroom.envs.fleet.scenario import scenario

SCENARIO = scenario(__name__, __doc__, core=True)
