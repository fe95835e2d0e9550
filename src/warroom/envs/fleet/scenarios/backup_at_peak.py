"""A backup agent starts a full dump on a busy database and takes its processor."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.causes import CandidateRole

SCENARIO = scenario(__name__, __doc__, CandidateRole("backup"))
