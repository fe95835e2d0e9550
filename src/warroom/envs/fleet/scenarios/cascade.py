"""A short stall of a store sets off retries that keep it overloaded long after the stall is gone."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.faults import RETRY_STORM
from warroom.sim.incident import FaultSpec

SCENARIO = scenario(__name__, __doc__, FaultSpec(RETRY_STORM), core=True)
