"""One article holds for this person; its siblings read as well and hold for others."""

from warroom.envs.tickets.scenario import tickets

SCENARIO = tickets(__name__, __doc__)
