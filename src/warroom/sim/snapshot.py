"""What is kept of one minute of a world: everything that a text about it may need."""

from dataclasses import dataclass
from typing import NamedTuple

from warroom.sim.sweep import FailingCall, Sweep


@dataclass(slots=True)
class Snapshot:
    """Everything that a text about this minute may need. Its lists are shared and never written to."""

    load: list[float]
    latency: list[float]
    error: list[float]
    failing: list[FailingCall]
    active: tuple[bool, ...]
    """Which faults are in force."""


class MinuteOutcome(NamedTuple):
    """What a minute comes to."""

    swept: Sweep
    load: list[float]
    """Requests per second at each service after the sweep."""
    slo_violation: float
    moving: bool
    """Whether loads still change."""
