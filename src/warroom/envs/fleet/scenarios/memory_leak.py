"""A service leaks memory until garbage collection eats its time and requests fail."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import LEAK
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(LEAK), core=True)
