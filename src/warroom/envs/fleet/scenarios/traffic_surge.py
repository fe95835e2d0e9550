"""Clients from outside send a service far more requests than it has room for."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import TRAFFIC_SURGE
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(TRAFFIC_SURGE))
