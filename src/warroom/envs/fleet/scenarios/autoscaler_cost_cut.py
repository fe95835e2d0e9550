"""A scaling agent cuts a busy service's replicas to save cost, far below what its load needs."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import CUT
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(CUT, verb="scale"), core=True)
