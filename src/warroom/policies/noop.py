"""The policy that does nothing: the floor of every score."""

from random import Random

from warroom.core.types import Brief, Observation, ToolCall


class Noop:
    """Waits out the incident."""

    def __init__(self, brief: Brief, rng: Random) -> None:
        self.noop_call = brief.noop_call

    def act(self, observation: Observation) -> ToolCall:
        """The call that does nothing."""
        return self.noop_call
