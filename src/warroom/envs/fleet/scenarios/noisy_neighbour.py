"""Another tenant of the machine takes the processor that a service needs."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import NOISY_NEIGHBOUR
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(NOISY_NEIGHBOUR))
