"""A backup agent starts a full dump on a busy database and takes its processor."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import BACKUP
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(BACKUP, verb="backup"))
