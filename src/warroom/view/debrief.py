"""After the end of an incident: what it truly was, what would have been, and what the oracle would have done."""

from dataclasses import dataclass, replace
from functools import lru_cache

from warroom.core.env import Env
from warroom.core.spec import EpisodeSpec
from warroom.core.types import JsonObject
from warroom.episode import Episode, Step
from warroom.policies import policy_set
from warroom.rollout import play
from warroom.runs import replayable


@dataclass(frozen=True, slots=True)
class Debrief:
    """What nobody may know before the end."""

    truth: JsonObject
    counterfactual: tuple[str, ...]
    """Sentences; empty where nothing can be said truly."""
    oracle: tuple[Step, ...]
    """Every call of one who is told the truth, on the same incident from its start."""
    oracle_total: float
    """The points that those calls are worth."""


def debrief(env: Env) -> Debrief:
    """What to tell after the end of an incident."""
    best = oracle_play(env.spec)
    return Debrief(env.truth(), env.counterfactual(), best.steps, best.total)


def oracle_play(spec: EpisodeSpec) -> Episode:
    """The incident as the oracle plays it; asked for again and again, it is played once."""
    return _cached_oracle_play(incident_of(spec))


def incident_of(spec: EpisodeSpec) -> EpisodeSpec:
    """The incident alone, as it is looked at: without the attempt, and as `replayable` has it."""
    return replace(replayable(spec), attempt=0)


@lru_cache(maxsize=64)
def _cached_oracle_play(spec: EpisodeSpec) -> Episode:
    return play(spec, policy_set(spec.env, "oracle"))
