"""A routing agent sends a service's traffic to a pool that cannot answer it."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.causes import CandidateRole

SCENARIO = scenario(__name__, __doc__, CandidateRole("route"), core=True)
