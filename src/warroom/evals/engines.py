"""What an engine is: whatever plays the episodes of an evaluation, on one machine or on many."""

from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple, Protocol

from warroom.core.errors import EpisodeAborted
from warroom.evals.plan import Plan
from warroom.policies import PolicySet
from warroom.rollout import play_as_ready
from warroom.runs import EpisodeKey

BATCH = 48
"""Episodes in which a model plays side by side."""


class EpisodeLine(NamedTuple):
    """An episode that ended."""

    key: EpisodeKey
    line: str | EpisodeAborted
    """Its line for the run folder, or what kept it from its end."""


class Engine(Protocol):
    """Plays episodes wherever it can."""

    def play(self, todo: Sequence[EpisodeKey]) -> Generator[EpisodeLine, None, None]:
        """Each episode as it ends, in any order; one that was played again after a failure may come twice.

        An interruption or an error of a policy is raised once what other workers had under way has come.
        """


def play_chunk(policies: PolicySet, keys: Sequence[EpisodeKey], width: int | None = None) -> Iterator[EpisodeLine]:
    """Play some episodes of one policy, at most `width` side by side, and give each as it ends."""
    for finished in play_as_ready([key.spec for key in keys], policies, width):
        ended = finished.result
        yield EpisodeLine(keys[finished.index], ended if isinstance(ended, EpisodeAborted) else ended.to_json())


def models_by_policy(plan: Plan) -> dict[str, list[str]]:
    """The names of the models that play, by policy; policies of scripts alone are left out."""
    found = {policy: list(players.models.values()) for policy, players in plan.policy_sets().items()}
    return {policy: names for policy, names in found.items() if names}
