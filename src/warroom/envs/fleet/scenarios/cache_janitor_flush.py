"""An eviction agent makes a cache's keys expire early, and the store behind the cache drowns in reads."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import FLUSH
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(FLUSH, verb="evict"))
