"""A service's certificate runs out and its callers refuse to talk to it; only its owners can issue another."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import EXPIRED
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(EXPIRED))
