"""A service complains loudly about its clients, and nothing is wrong: the right answer is to ignore it."""

from warroom.envs.logs.scenario import outage

SCENARIO = outage(__name__, __doc__, budget=8, loud=True)
