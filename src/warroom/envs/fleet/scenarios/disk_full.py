"""The volume of a database or queue fills up, and writes fail."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import DISK
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(DISK), core=True)
