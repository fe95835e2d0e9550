"""A limiting agent sets a quota far below a service's ordinary traffic."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import QUOTA
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(QUOTA, verb="limit"))
