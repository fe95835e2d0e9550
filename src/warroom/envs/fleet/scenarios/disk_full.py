"""The volume of a database or queue fills up, and writes fail."""

from warroom.envs.fleet.scenario import scenario

SCENARIO = scenario(__name__, __doc__, core=True)
