"""A scaling agent cuts a busy service's replicas to save cost, far below what its load needs."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import REPLICA_CUT
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(REPLICA_CUT, verb="scale"), core=True)
