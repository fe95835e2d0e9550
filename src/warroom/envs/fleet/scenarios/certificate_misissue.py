"""A certificate agent installs a certificate that the service's callers refuse, over one that still worked."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import MISISSUED
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(MISISSUED, verb="rotate"))
