"""The incident of an episode, and how one who is told the truth plays it."""

from dataclasses import replace
from functools import lru_cache

from warroom.core.spec import EpisodeSpec
from warroom.episode import Episode
from warroom.policies import policy_set
from warroom.rollout import play
from warroom.runs import replayable


def oracle_play(spec: EpisodeSpec) -> Episode:
    """The incident as the oracle plays it; asked for again and again, it is played once."""
    return _cached_oracle_play(incident_of(spec))


def incident_of(spec: EpisodeSpec) -> EpisodeSpec:
    """The incident alone, as it is looked at: without the attempt, and as `replayable` has it."""
    return replace(replayable(spec), attempt=0)


@lru_cache(maxsize=64)
def _cached_oracle_play(spec: EpisodeSpec) -> Episode:
    return play(spec, policy_set(spec.env, "oracle"))
