"""A limiting agent sets a quota far below a service's ordinary traffic."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import QUOTA
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(QUOTA, verb="limit"))
