"""The volume of a database or queue fills up, and writes fail."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import DISK_FULL
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(DISK_FULL), core=True)
