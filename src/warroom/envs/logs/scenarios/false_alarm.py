"""A service complains loudly about its clients, and nothing is wrong: the right answer is to ignore it."""

from warroom.envs.logs.scenario import scenario

SCENARIO = scenario(__name__, __doc__, noisy_service=True)
