"""A service's resolver goes stale, and its calls to others fail before they leave."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import DNS
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(DNS), core=True)
