"""Something breaks by itself just as an innocent agent makes a scary change to the very service that breaks."""

from dataclasses import replace
from random import Random

from warroom.envs.fleet.scenario import Failure, Plot, arm, natural


def draw(rng: Random, failures: dict[str, Failure]) -> Plot:
    """Any failure that no agent causes, with innocents at work on its victim the minute before and after."""
    chosen = rng.choice(natural(failures))
    return Plot(chosen.name, replace(chosen.cast, suspect=True))


SCENARIO = arm(__name__, __doc__, draw)
