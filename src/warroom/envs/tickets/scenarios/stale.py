"""A newer article replaces an older one that still comes up."""

from warroom.envs.tickets.scenario import tickets

SCENARIO = tickets(__name__, __doc__)
