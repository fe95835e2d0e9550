"""The procedure ends with another one, which has to be found for the person's site."""

from warroom.envs.tickets.scenario import scenario

SCENARIO = scenario(__name__, __doc__, tests=("several_articles",))
