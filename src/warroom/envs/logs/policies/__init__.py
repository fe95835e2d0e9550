"""Scripted policies of log triage: naive ones that a trained model has to beat, and an expert that reads.

Recorded incidents have other pages; there each name plays by the ranking that comes nearest to it.
"""

from collections.abc import Mapping
from random import Random

from warroom.core.policy import Policy, PolicyFactory
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs.logs.policies.expert import expert
from warroom.envs.logs.policies.naive import NAIVE
from warroom.envs.logs.policies.recorded import FUSION, RANKINGS, RankingPolicy
from warroom.envs.logs.recorded_views import RecordedPage

ON_RECORDINGS: Mapping[str, str] = {
    "expert": "fusion", "heuristic": "loudest_rise", "loudest": "loudest", "loudest_delta": "loudest_rise",
}  # fmt: skip
"""The ranking by which a policy plays a recording; the others rank by ERROR lines."""


class ByPage:
    """One policy for drawn incidents, and one for recordings: the first page says which it is."""

    def __init__(self, name: str, drawn: PolicyFactory, brief: Brief, rng: Random) -> None:
        self.name, self.drawn, self.brief, self.rng = name, drawn, brief, rng
        self.policy: Policy | None = None

    def act(self, observation: Observation) -> ToolCall:
        """The next call."""
        if self.policy is None:
            self.policy = self._policy(isinstance(observation, RecordedPage))
        return self.policy.act(observation)

    def _policy(self, recorded: bool) -> Policy:
        if recorded:
            return RankingPolicy(RANKINGS[ON_RECORDINGS.get(self.name, "loudest")], self.rng)
        return self.drawn(self.brief, self.rng)


def _by_page(name: str, drawn: PolicyFactory) -> PolicyFactory:
    return lambda brief, rng: ByPage(name, drawn, brief, rng)


POLICIES: dict[str, PolicyFactory] = {
    **{name: _by_page(name, drawn) for name, drawn in {"expert": expert, **NAIVE}.items()}, **FUSION,
}  # fmt: skip
