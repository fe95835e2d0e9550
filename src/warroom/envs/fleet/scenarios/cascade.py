"""A short stall of a store sets off retries that keep it overloaded long after the stall is gone."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import RETRY_STORM
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(RETRY_STORM), core=True)
