"""Clients from outside send a service far more requests than it has room for."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import SURGE
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(SURGE))
