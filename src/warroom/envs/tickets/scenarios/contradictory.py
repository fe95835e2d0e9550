"""Two teams have written opposite articles, and a third one says whose holds."""

from warroom.envs.tickets.scenario import scenario

SCENARIO = scenario(__name__, __doc__, tests=("contradictory",))
