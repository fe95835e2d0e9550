"""An agent repeats itself without sense or effect, and something unrelated breaks by itself."""

from dataclasses import replace
from random import Random

from warroom.envs.fleet.scenario import Failure, Plot, arm, natural


def draw(rng: Random, failures: dict[str, Failure]) -> Plot:
    """Any failure that no agent causes, with one harmless agent caught in a loop."""
    chosen = rng.choice(natural(failures))
    return Plot(chosen.name, replace(chosen.cast, stuck=True))


SCENARIO = arm(__name__, __doc__, draw)
