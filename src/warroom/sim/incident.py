"""One outage, drawn whole before its first minute and immutable afterwards; worlds are built from it."""

from dataclasses import dataclass
from random import Random

from warroom.core.splits import Split
from warroom.sim.mechanism import Fault
from warroom.sim.topology import ServiceSystem

HISTORY = 10
"""Minutes of history before the page at minute 0. One minute is one turn."""


@dataclass(frozen=True)
class Incident:
    """Everything drawn."""

    key: bytes
    """Seeds the observation noise."""
    wording: Split
    system: ServiceSystem
    faults: tuple[Fault, ...]
    """The cause first."""
    traffic: tuple[float, ...]
    """User traffic relative to the healthy level, from minute -HISTORY on."""


TRAFFIC_STEP = 10
"""Minutes for which user traffic stays at one level; between steps an undisturbed world stands still."""


def draw_traffic(rng: Random, minutes: int) -> tuple[float, ...]:
    """User traffic of so many minutes relative to the healthy level, in steps of `TRAFFIC_STEP` minutes."""
    level, out = 0.0, []
    for minute in range(minutes):
        if minute % TRAFFIC_STEP == 0:
            level = 0.5 * level + 0.04 * (rng.random() - 0.5)
        out.append(1.0 + level)
    return tuple(out)
