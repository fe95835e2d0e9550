"""A service no longer returns its connections, and soon has none free for new requests."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import POOL
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(POOL))
