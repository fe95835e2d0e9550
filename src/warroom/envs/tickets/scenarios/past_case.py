"""Only a closed ticket or an incident tells what helped."""

from warroom.envs.tickets.scenario import tickets

SCENARIO = tickets(__name__, __doc__)
