"""An eviction agent makes a cache's keys expire early, and the store behind the cache drowns in reads."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import CACHE_FLUSH
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(CACHE_FLUSH, verb="evict"))
