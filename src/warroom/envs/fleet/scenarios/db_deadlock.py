"""Transactions of a database wait for one another's locks until almost nothing gets through."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import LOCK_WAIT
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(LOCK_WAIT), core=True)
