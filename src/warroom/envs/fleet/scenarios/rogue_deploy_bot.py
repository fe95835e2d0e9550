"""A deploying agent ships a build under which a service fails a share of its requests."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.causes import CandidateRole

SCENARIO = scenario(__name__, __doc__, CandidateRole("deploy"), core=True)
