"""A service no longer returns its connections, and soon has none free for new requests."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.causes import Nature

SCENARIO = scenario(__name__, __doc__, Nature("connections"))
