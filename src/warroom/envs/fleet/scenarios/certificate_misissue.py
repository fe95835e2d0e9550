"""A certificate agent installs a certificate that the service's callers refuse, over one that still worked."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import CERTIFICATE_MISISSUED
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(CERTIFICATE_MISISSUED, verb="rotate"))
