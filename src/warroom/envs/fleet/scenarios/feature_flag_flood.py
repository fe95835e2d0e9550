"""A flag agent turns on a feature that makes every request to a service cost several times the work."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.causes import CandidateRole

SCENARIO = scenario(__name__, __doc__, CandidateRole("toggle"))
