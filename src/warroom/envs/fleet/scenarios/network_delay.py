"""The link to a service turns slow: its callers give up waiting while the service itself answers quickly."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import NETWORK_DELAY
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(NETWORK_DELAY))
