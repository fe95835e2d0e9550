"""The volume of a database fills up, and writes fail."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.causes import Nature

SCENARIO = scenario(__name__, __doc__, Nature("disk_space"), core=True)
