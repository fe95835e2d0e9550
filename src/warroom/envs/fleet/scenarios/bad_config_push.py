"""A colleague pushes a configuration under which a service fails a share of its requests."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import BAD_RELEASE
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(BAD_RELEASE, person=True), core=True)
