"""Another tenant of the machine takes the processor that a service needs."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import NEIGHBOUR
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(NEIGHBOUR))
