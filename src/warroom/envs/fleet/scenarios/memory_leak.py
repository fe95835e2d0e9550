"""A service leaks memory until garbage collection eats its time and requests fail."""

from warroom.envs.fleet.scenario import scenario

SCENARIO = scenario(__name__, __doc__, core=True)
