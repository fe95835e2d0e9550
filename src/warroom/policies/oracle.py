"""The policy that is told the truth: the ceiling of every score."""

from warroom.core.env import Env
from warroom.core.types import Observation, ToolCall


class Oracle:
    """Asks the environment itself what someone who knows the truth does now."""

    def __init__(self, env: Env) -> None:
        self.env = env

    def act(self, observation: Observation) -> ToolCall:
        """The environment's own best call."""
        return self.env.oracle()
