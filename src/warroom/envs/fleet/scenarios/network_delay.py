"""The link to a service turns slow: its callers give up waiting while the service itself answers quickly."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import WIRE
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(WIRE))
