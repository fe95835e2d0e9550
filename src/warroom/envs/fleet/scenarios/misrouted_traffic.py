"""A routing agent sends a service's traffic to a pool that cannot answer it."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import MISROUTE
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(MISROUTE, verb="route"), core=True)
