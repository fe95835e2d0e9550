"""A deploying agent ships a build under which a service fails a share of its requests."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import BAD_RELEASE
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(BAD_RELEASE, verb="deploy"), core=True)
