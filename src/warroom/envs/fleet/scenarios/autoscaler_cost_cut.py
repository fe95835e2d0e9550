"""A scaling agent cuts a busy service's replicas to save cost, far below what its load needs."""

from warroom.envs.fleet.scenario import scenario

SCENARIO = scenario(__name__, __doc__, core=True)
