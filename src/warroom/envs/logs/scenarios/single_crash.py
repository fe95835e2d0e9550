"""One service fails a share of its requests from one minute to the next: workers die, or a new build is wrong."""

from warroom.envs.logs.scenario import scenario
from warroom.sim.outages import CRASH, RELEASE

SCENARIO = scenario(__name__, __doc__, budget=8, core=True, causes=(CRASH, RELEASE))
