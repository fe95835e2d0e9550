"""A colleague pushes a configuration under which a service fails a share of its requests."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import BAD_RELEASE
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(BAD_RELEASE, person=True), core=True)
