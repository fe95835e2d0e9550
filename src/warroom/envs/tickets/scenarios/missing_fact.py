"""What decides stands in no ticket and no register: only the person who wrote knows it."""

from warroom.envs.tickets.scenario import scenario

SCENARIO = scenario(__name__, __doc__, tests=("missing_fact",))
