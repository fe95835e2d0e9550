"""Two services that do not depend on one another fail at about the same time, each for a reason of its own."""

from warroom.envs.logs.scenario import scenario
from warroom.sim.outages import CRASH, LOCK_PILE, RELEASE, SATURATION

SCENARIO = scenario(__name__, __doc__, budget=15, causes=(CRASH, RELEASE), second=(LOCK_PILE, SATURATION))
