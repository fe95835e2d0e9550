"""Nothing in the knowledge base helps: a human has to take over."""

from warroom.envs.tickets.scenario import scenario

SCENARIO = scenario(__name__, __doc__, tests=("unanswerable",))
