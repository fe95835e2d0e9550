"""Whether every seat is needed: what the expert's team loses where one seat only carries out what others ask for."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import NamedTuple

from warroom.core.spec import EpisodeSpec
from warroom.core.splits import seed_of
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs import make
from warroom.envs.fleet.env import SEATS
from warroom.envs.fleet.pages import FleetObservation
from warroom.evals.audit.exploits import unprivileged
from warroom.evals.audit.outcomes import play_out
from warroom.policies import PolicySet, policy_set


class Carrier:
    """Takes the readings that others ask for, and never acts."""

    def __init__(self, brief: Brief, rng: Random) -> None:
        self.brief = brief
        self.left: list[ToolCall] = []
        """Requests that are still to be carried out."""

    def act(self, observation: Observation) -> ToolCall:
        """The next reading that was asked for."""
        if isinstance(observation, FleetObservation):
            self.left = [request.call for request in observation.requests][: self.brief.facts.readings]
        return self.left.pop(0) if self.left else self.brief.noop_call


class SeatLoss(NamedTuple):
    """What a seat is worth on one tier."""

    tier: str
    seat: str
    n: int
    points: float
    """Mean points that the team loses without it."""


def seat_losses(tier: str, scenarios: Iterable[str], seeds: Iterable[int], split: str = "test") -> list[SeatLoss]:
    """The points lost for each seat, on the same incidents."""
    specs = [EpisodeSpec(name, tier, seed_of(split, k)) for name in scenarios for k in seeds]
    full = policy_set("fleet", "expert")
    whole = _mean_points(full, specs)
    return [SeatLoss(tier, seat, len(specs), whole - _mean_points(_without(full, seat), specs)) for seat in SEATS]


def _without(full: PolicySet, seat: str) -> PolicySet:
    return replace(full, name=f"without {seat}", seats={**full.seats, seat: unprivileged(Carrier)})


def _mean_points(players: PolicySet, specs: list[EpisodeSpec]) -> float:
    return sum([play_out(make(spec), players).total for spec in specs]) / len(specs)
