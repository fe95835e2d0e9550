"""A service leaks memory until garbage collection eats its time and requests fail."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.causes import Nature

SCENARIO = scenario(__name__, __doc__, Nature("memory"), core=True)
