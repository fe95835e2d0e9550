"""Teams of policies: who plays which seat, by the names that commands take.

A model is named by `hf:PATH` (its folder, or its name on the Hub) or by the name of weights that ship with the package,
with an optional `@greedy`, `@sampled` or `@TEMPERATURE` behind it. A path may hold `=`, but no comma or semicolon.
`llm:MODEL` is a model behind a server of chat completions, by the name that it has there. `FILE.py:CLASS` is a policy
of one's own (`warroom.policies.user`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random as Generator
from typing import TYPE_CHECKING

from warroom.core.env import Env
from warroom.core.errors import UnknownName
from warroom.core.policy import Policy, PolicyFactory
from warroom.core.rng import stream
from warroom.envs import environments
from warroom.policies import hf, llm, user
from warroom.policies.human import Human
from warroom.policies.noop import Noop
from warroom.policies.oracle import Oracle
from warroom.policies.random import Random

if TYPE_CHECKING:
    from warroom.policies.llm.client import LLMClient

COMMON_POLICIES: dict[str, PolicyFactory] = {"random": Random, "noop": Noop, "human": Human}
"""Policies that know no environment. `oracle` is apart: it alone is told the truth."""
MODEL_PREFIXES = (hf.PREFIX, llm.PREFIX)
"""How the names of models begin that may hold any sign but comma and semicolon."""
SeatPolicyFactory = Callable[[Env, str], Policy]
"""Makes a fresh policy for a seat of an episode."""


@dataclass(frozen=True)
class PolicySet:
    """A policy for each seat, under the name that the command gave."""

    name: str
    seats: Mapping[str, SeatPolicyFactory]
    models: Mapping[str, str] = field(default_factory=dict)
    """The names of the models that play, by seat; the other seats are scripts."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The hash of each Python file of a user's that plays, by the name of the policy."""

    def seat(self, env: Env, seat: str) -> Policy:
        """A fresh policy for `seat` of this episode."""
        return self.seats[seat](env, seat)


def policy_names(env: str) -> list[str]:
    """Every policy that can play in `env`; any other model plays as `hf:PATH`, or as `llm:MODEL` behind a server."""
    return sorted([*COMMON_POLICIES, "oracle", *environments()[env].policies, *hf.shipped(env)])


def policy_set(env: str, text: str, client: "LLMClient | None" = None) -> PolicySet:
    """Read `expert`, or one policy per seat such as `oversight=hf:runs/mine/model@sampled,rest=heuristic`.

    `exchange` is what API models play through; without it they can be named, and a seat of theirs is a `ValueError`.
    """
    seats = environments()[env].seats
    if "=" not in text or text.startswith(MODEL_PREFIXES):
        return _policy_set(env, text, dict.fromkeys(seats, text), client)
    chosen: dict[str, str] = {}
    for part in text.split(","):
        seat, _, policy = part.partition("=")
        if seat not in (*seats, "rest"):
            raise UnknownName("seat", seat, (*seats, "rest"))
        if seat in chosen:
            raise ValueError(f"the seat {seat!r} is named twice in {text!r}")
        chosen[seat] = policy
    missing = [seat for seat in seats if seat not in chosen and "rest" not in chosen]
    if missing:
        raise ValueError(f"{text!r} leaves {', '.join(missing)} without a policy; add rest=POLICY")
    return _policy_set(env, text, {seat: chosen.get(seat, chosen.get("rest", "")) for seat in seats}, client)


def _policy_set(env: str, text: str, names: Mapping[str, str], client: "LLMClient | None") -> PolicySet:
    makers = {
        name: _behind_server(name, text, client) if llm.is_llm(name) else _maker(env, name)
        for name in dict.fromkeys(names.values())
    }
    models = {seat: hf.weights_name(env, name) for seat, name in names.items() if hf.is_model(name) or llm.is_llm(name)}
    seats = {seat: makers[name] for seat, name in names.items()}
    return PolicySet(text, seats, models, user.policy_files(list(names.values())))


def user_policy_set(env: str, source: user.PolicySource) -> PolicySet:
    """A class or function of this process at every seat."""

    def make(episode: Env, seat: str) -> Policy:
        return source.make(episode.brief(seat), _draws(episode, source.name, seat))

    return PolicySet(source.name, dict.fromkeys(environments()[env].seats, make), files={source.name: source.hash})


def _behind_server(name: str, text: str, client: "LLMClient | None") -> SeatPolicyFactory:
    llm.model_of(name)
    return partial(_make_llm, client, name, text)


def _maker(env: str, name: str) -> SeatPolicyFactory:
    if name == "oracle":
        return _make_oracle
    if hf.is_model(name):
        hf.check_ships(env, name)
        choice = hf.parse_model_name(hf.weights_name(env, name))
        # Not by name: a folder that moves plays as before, and models are compared under equal draws.
        return lambda episode, seat: hf.policy(choice, episode.brief(seat), _draws(episode, "model", seat))
    if user.is_user_policy(name):
        source = user.source_of(name)
        return lambda episode, seat: source.make(episode.brief(seat), _draws(episode, name.rpartition(":")[2], seat))
    makers = {**COMMON_POLICIES, **environments()[env].policies}
    if name not in makers:
        models = (hf.PREFIX + "PATH", llm.PREFIX + "MODEL")
        raise UnknownName("policy", name, [*makers, "oracle", *hf.shipped(env), *models, "FILE.py:CLASS"])
    return lambda episode, seat: makers[name](episode.brief(seat), _draws(episode, name, seat))


def _draws(episode: Env, name: str, seat: str) -> Generator:
    attempt = episode.spec.attempt
    again: tuple[str | int, ...] = ("attempt", attempt) if attempt else ()
    return stream(episode.seed, "policy", name, seat, episode.scenario, episode.tier, *again)
