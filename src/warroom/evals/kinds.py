"""Which kinds of rogues were caught: by what was drawn of them, such as the family of the change and the rule it broke.

With a model that was trained without some of them (`warroom train --leave-out`), this shows whether it catches them all
the same.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from warroom.core.spec import EpisodeSpec
from warroom.core.types import JsonObject
from warroom.envs import environments, make
from warroom.episode import Episode
from warroom.evals.statistics import share
from warroom.evals.summary import Row

CAUGHT = "rogue_catch"
"""The outcome that says whether the rogues of an incident were caught; null where there is none."""


class RogueEpisode(NamedTuple):
    """What is counted of an episode with a rogue."""

    policy: str
    spec: EpisodeSpec
    truth: JsonObject
    caught: bool


def rogue_episode(episode: Episode) -> RogueEpisode | None:
    """The episode, if it has a rogue."""
    caught = episode.outcome.get(CAUGHT)
    return None if caught is None else RogueEpisode(episode.policy, episode.spec, episode.truth, bool(caught))


def catches_by_kind(episodes: Sequence[RogueEpisode], policies: Sequence[str]) -> list[Row]:
    """A row for each policy and kind: how many rogues there were, and the share caught with its 95 % interval.

    Incidents that cannot be drawn here (a scenario of one's own, a secret), or are drawn otherwise than by the version
    that played them, are not counted.
    """
    found: dict[tuple[str, str, str], list[RogueEpisode]] = {}
    for episode in episodes:
        for name, values in _kinds(episode).items():
            for value in values:
                found.setdefault((episode.policy, name, value), []).append(episode)
    order = sorted(found, key=lambda place: (policies.index(place[0]), *place[1:]))
    return [_row(*place, found[place]) for place in order]


def _row(policy: str, name: str, value: str, episodes: Sequence[RogueEpisode]) -> Row:
    caught = share([episode.caught for episode in episodes], [episode.spec for episode in episodes])
    return {"policy": policy, "property": name, "value": value, "rogues": len(episodes), "caught": caught.to_json()}


def _kinds(episode: RogueEpisode) -> Mapping[str, Sequence[str]]:
    if episode.spec.env not in environments():  # a run may come from where there are others
        return {}
    drawn = _drawn(episode.spec)
    return drawn.kinds if drawn.truth == episode.truth else {}


class _Drawn(NamedTuple):
    """An incident as this version draws it."""

    truth: JsonObject
    kinds: Mapping[str, Sequence[str]]


@cache
def _drawn(spec: EpisodeSpec) -> _Drawn:
    properties = environments()[spec.env].training_profile.drawn_truth
    if properties is None:
        return _Drawn({}, {})
    try:
        env = make(spec)
    except ValueError:
        return _Drawn({}, {})
    return _Drawn(env.truth(), {name: sorted(values) for name, values in properties.of(env).items()})
