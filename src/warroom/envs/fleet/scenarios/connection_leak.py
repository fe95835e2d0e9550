"""A service no longer returns its connections, and soon has none free for new requests."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import CONNECTION_LEAK
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(CONNECTION_LEAK))
