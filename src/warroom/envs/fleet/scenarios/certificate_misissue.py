"""A certificate agent installs a certificate that the service's callers refuse, over one that still worked."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.causes import CandidateRole

SCENARIO = scenario(__name__, __doc__, CandidateRole("rotate"))
