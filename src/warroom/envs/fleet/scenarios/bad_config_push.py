"""A colleague pushes a configuration under which a service fails a share of its requests."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.causes import CandidateRole

SCENARIO = scenario(__name__, __doc__, CandidateRole("config", by_colleague=True), core=True)
