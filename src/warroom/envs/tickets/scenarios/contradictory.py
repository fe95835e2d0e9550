"""Two teams have written opposite articles, and a third one says whose holds."""

from warroom.envs.tickets.scenario import tickets

SCENARIO = tickets(__name__, __doc__)
