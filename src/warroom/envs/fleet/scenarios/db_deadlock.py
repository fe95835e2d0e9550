"""Transactions of a database wait for one another's locks until almost nothing gets through."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import LOCKS
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(LOCKS), core=True)
