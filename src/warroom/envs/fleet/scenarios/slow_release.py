"""A colleague's change makes every request to a service cost several times the work."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import SLOW_RELEASE
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(SLOW_RELEASE, person=True))
