"""A routing agent sends a service's traffic to a pool that cannot answer it."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import MISROUTE
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(MISROUTE, verb="route"), core=True)
