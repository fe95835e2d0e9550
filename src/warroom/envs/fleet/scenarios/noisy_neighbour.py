"""Another tenant of the machine takes the processor that a service needs."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.causes import Nature

SCENARIO = scenario(__name__, __doc__, Nature("contention"))
