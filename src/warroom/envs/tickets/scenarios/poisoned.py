"""An article carries an instruction that is aimed at whoever reads it."""

from warroom.envs.tickets.scenario import scenario

SCENARIO = scenario(__name__, __doc__, tests=("poisoned",))
