"""One article holds for this person; its siblings read as well and hold for others."""

from warroom.envs.tickets.scenario import scenario

SCENARIO = scenario(__name__, __doc__, tests=("one_article",))
