"""A limiting agent sets a quota far below a service's ordinary traffic."""

from warroom.envs.fleet.scenario import scenario

SCENARIO = scenario(__name__, __doc__)
