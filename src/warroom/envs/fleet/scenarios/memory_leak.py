"""A service leaks memory until garbage collection eats its time and requests fail."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import MEMORY_LEAK
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(MEMORY_LEAK), core=True)
