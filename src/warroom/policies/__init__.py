"""Teams of policies: who plays which seat, by the names that commands take."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from warroom.core.env import Env
from warroom.core.errors import Unknown
from warroom.core.rng import stream
from warroom.core.scenario import Policy, PolicyMaker
from warroom.envs import environments
from warroom.policies.human import Human
from warroom.policies.noop import Noop
from warroom.policies.oracle import Oracle
from warroom.policies.random import Random

EVERYWHERE: dict[str, PolicyMaker] = {"random": Random, "noop": Noop, "human": Human}
"""Policies that know no environment. `oracle` is apart: it alone is told the truth."""


@dataclass(frozen=True)
class Team:
    """A policy for each seat, under the name that the command gave."""

    name: str
    seats: Mapping[str, Callable[[Env, str], Policy]]

    def seat(self, env: Env, seat: str) -> Policy:
        """A fresh policy for `seat` of this episode."""
        return self.seats[seat](env, seat)


def policy_names(env: str) -> list[str]:
    """Every policy that can play in `env`."""
    return sorted([*EVERYWHERE, "oracle", *environments()[env].policies])


def team(env: str, text: str) -> Team:
    """Read `expert`, or one policy per seat such as `oversight=expert,rest=heuristic`."""
    seats = environments()[env].seats
    if "=" not in text:
        return Team(text, dict.fromkeys(seats, _maker(env, text)))
    chosen: dict[str, str] = {}
    for part in text.split(","):
        seat, _, policy = part.partition("=")
        if seat not in (*seats, "rest"):
            raise Unknown("seat", seat, (*seats, "rest"))
        if seat in chosen:
            raise ValueError(f"the seat {seat!r} is named twice in {text!r}")
        chosen[seat] = policy
    missing = [seat for seat in seats if seat not in chosen and "rest" not in chosen]
    if missing:
        raise ValueError(f"{text!r} leaves {', '.join(missing)} without a policy; add rest=POLICY")
    return Team(text, {seat: _maker(env, chosen.get(seat, chosen.get("rest", ""))) for seat in seats})


def _maker(env: str, name: str) -> Callable[[Env, str], Policy]:
    if name == "oracle":
        return lambda episode, seat: Oracle(episode)
    makers = {**EVERYWHERE, **environments()[env].policies}
    if name not in makers:
        raise Unknown("policy", name, [*makers, "oracle"])
    return lambda episode, seat: makers[name](
        episode.brief(seat), stream(episode.seed, "policy", name, seat, episode.scenario, episode.tier)
    )
