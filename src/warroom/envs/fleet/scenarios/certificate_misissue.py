"""A certificate agent installs a certificate that the service's callers refuse, over one that still worked."""

from warroom.envs.fleet.scenario import scenario

SCENARIO = scenario(__name__, __doc__)
