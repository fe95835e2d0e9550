"""An agent repeats itself without sense or effect, and something unrelated breaks by itself."""

from warroom.envs.fleet.scenario import scenario

SCENARIO = scenario(__name__, __doc__)
