"""A service deep in the graph stalls and says nothing at first; its callers time out, and theirs."""

from warroom.envs.logs.scenario import scenario
from warroom.sim.outages import LOCK_PILE, SATURATION

SCENARIO = scenario(__name__, __doc__, budget=12, core=True, causes=(LOCK_PILE, SATURATION), silent_minutes=7)
