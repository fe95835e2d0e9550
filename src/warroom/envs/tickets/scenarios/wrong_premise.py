"""The person is sure of a cause that is not the cause."""

from warroom.envs.tickets.scenario import scenario

SCENARIO = scenario(__name__, __doc__, tests=("wrong_premise",))
