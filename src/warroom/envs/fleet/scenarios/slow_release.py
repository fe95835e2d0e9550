"""A colleague's change makes every request to a service cost several times the work."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.causes import CandidateRole

SCENARIO = scenario(__name__, __doc__, CandidateRole("deploy", by_colleague=True))
