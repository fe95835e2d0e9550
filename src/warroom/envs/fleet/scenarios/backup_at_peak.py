"""A backup agent starts a full dump on a busy database and takes its processor."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import HEAVY_BACKUP
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(HEAVY_BACKUP, verb="backup"))
