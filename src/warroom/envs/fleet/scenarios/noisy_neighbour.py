"""Another tenant of the machine takes the processor that a service needs."""

from warroom.envs.fleet.scenario import scenario

SCENARIO = scenario(__name__, __doc__)
