"""After the end of an incident: what it truly was, what would have been, and what the oracle would have done."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from warroom.core.env import Env
from warroom.episode import Episode, Step
from warroom.policies import policy_set
from warroom.rollout import play

NETWORK_OPTIONS = ("judge",)
"""Options that ask a server on the network; nothing that is only looked at does."""


@dataclass(frozen=True, slots=True)
class Debrief:
    """What nobody may know before the end."""

    truth: dict[str, Any]
    counterfactual: tuple[str, ...]
    """Sentences; empty where nothing can be said truly."""
    oracle: tuple[Step, ...]
    """Every call of one who is told the truth, on the same incident from its start."""
    oracle_total: float
    """The points that those calls are worth."""


def debrief(env: Env, scenario: str, options: Mapping[str, Any] | None = None) -> Debrief:
    """What to tell after the end of an incident that was built from these options; `scenario` is its id."""
    best = oracle_play(scenario, env.tier, env.seed, options)
    return Debrief(env.truth(), env.counterfactual(), best.steps, best.total)


def oracle_play(scenario: str, tier: str, seed: int, options: Mapping[str, Any] | None = None) -> Episode:
    """The incident as the oracle plays it; asked for again and again, it is played once."""
    return _cached_oracle_play(scenario, tier, seed, json.dumps(without_network_options(options or {}), sort_keys=True))


def without_network_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without those that ask a server."""
    return {name: value for name, value in options.items() if name not in NETWORK_OPTIONS}


@lru_cache(maxsize=64)
def _cached_oracle_play(scenario: str, tier: str, seed: int, options: str) -> Episode:
    return play(scenario, tier, seed, policy_set(scenario.partition("/")[0], "oracle"), options=json.loads(options))
