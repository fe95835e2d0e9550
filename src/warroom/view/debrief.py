"""After the end of an incident: what it truly was, what would have been, and what the oracle would have done."""

from dataclasses import dataclass, replace
from functools import lru_cache

from warroom.core.env import Env
from warroom.core.spec import EpisodeSpec
from warroom.core.types import JsonObject
from warroom.episode import Episode, Step
from warroom.policies import policy_set
from warroom.rollout import play

NETWORK_OPTIONS = ("judge",)
"""Options that ask a server on the network; nothing that is only looked at does."""


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
    """The incident alone: without the attempt, and without options that ask a server."""
    values = {name: value for name, value in spec.options.to_json().items() if name not in NETWORK_OPTIONS}
    return replace(spec, attempt=0, options=type(spec.options).parse(values))


@lru_cache(maxsize=64)
def _cached_oracle_play(spec: EpisodeSpec) -> Episode:
    return play(spec, policy_set(spec.env, "oracle"))
