"""A colleague's change makes every request to a service cost several times the work."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import SLOW_RELEASE
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(SLOW_RELEASE, person=True))
