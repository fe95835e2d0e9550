"""The procedure ends with another one, which has to be found for the person's site."""

from warroom.envs.tickets.scenario import tickets

SCENARIO = tickets(__name__, __doc__)
