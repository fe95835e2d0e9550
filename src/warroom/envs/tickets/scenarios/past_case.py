"""Only a closed ticket or an incident tells what helped."""

from warroom.envs.tickets.scenario import scenario

SCENARIO = scenario(__name__, __doc__, tests=("past_case",))
