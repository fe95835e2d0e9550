"""A short stall of a store sets off retries that keep it overloaded long after the stall is gone."""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.causes import Nature

SCENARIO = scenario(__name__, __doc__, Nature("retry_storm"), core=True)
