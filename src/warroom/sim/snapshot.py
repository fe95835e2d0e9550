"""What is kept of one minute of a world: everything that a text about it may need."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warroom.sim.sweep import FailingCall, Sweep


@dataclass(slots=True)
class Snapshot:
    """Everything that a text about this minute may need. Its lists are shared and never written to."""

    load: list[float]
    latency: list[float]
    error: list[float]
    cpu: list[float]
    slots: list[float]
    memory: list[float]
    disk: list[float]
    replicas: list[int]
    dropped_load: float
    """Requests per second that were lost on the way; misrouted ones are in the receiver's load."""
    failing: list[FailingCall]
    slo_violation: float
    active: tuple[bool, ...]
    """Which faults are in force."""
    attempts: Sequence[float]
    """Attempts per accepted request on each of the system's `links`, before `fan_out`."""
    fan_out: list[float]
    link_ranges: tuple[tuple[int, int], ...]
    """Where the attempts of each service begin and end."""

    @property
    def flow(self) -> list[Sequence[float]]:
        """The attempts on each outgoing call, in the order of `System.calls`."""
        return [self.attempts[begin:end] for begin, end in self.link_ranges]


class MinuteOutcome(NamedTuple):
    """What a minute comes to."""

    swept: Sweep
    load: list[float]
    """Requests per second at each service after the sweep."""
    dropped_load: float
    """Requests per second that are lost on the way."""
    slo_violation: float
    moving: bool
    """Whether loads still change."""
