"""Teams that weigh no evidence, as data: degenerate ones that somebody thought of, and scripts of a search."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from warroom.core.env import Env
from warroom.core.rng import stream
from warroom.core.scenario import Policy, PolicyMaker
from warroom.policies import SeatMaker, Team
from warroom.policies.noop import Noop

NOTHING = "nothing"
"""The strategy of a script that does nothing."""
Seats = Mapping[str, SeatMaker]
"""What seats play; those that are not named wait."""
Chosen = Mapping[str, str]
"""The strategy of each axis of a script."""


@dataclass(frozen=True)
class Recipe:
    """A degenerate team: one thing that a rubric might pay for by mistake."""

    story: str
    seats: Seats
    spoilt: bool = False
    """Whether it is told the truth and makes one mistake: bars on policies that know nothing do not concern it."""
    worthless: bool = False
    """Whether that mistake voids everything: no points wherever something is wrong."""


@dataclass(frozen=True)
class Scripts:
    """The scripts of an environment: one strategy on each axis."""

    axes: Callable[[], Mapping[str, tuple[str, ...]]]
    """The strategies of each axis, `nothing` first."""
    usual: Chosen
    """What a script does that is otherwise about one axis alone: without it nothing would be closed."""
    seats: Callable[[Chosen], Seats]
    """Who plays a script; the mapping has every axis."""


@dataclass(frozen=True, slots=True)
class Script:
    """Strategies by axis, in the order of the axes."""

    strategies: tuple[tuple[str, str], ...]

    @property
    def chosen(self) -> dict[str, str]:
        """The strategy of each axis."""
        return dict(self.strategies)

    @property
    def name(self) -> str:
        """What is not nothing, axis by axis."""
        return "; ".join(f"{axis}: {value}" for axis, value in self.strategies if value != NOTHING) or NOTHING


def blind(maker: PolicyMaker) -> SeatMaker:
    """A seat that is told no more than its brief."""

    def seat(env: Env, at: str, attempt: int) -> Policy:
        return maker(env.brief(at), stream(env.seed, "policy", "degenerate", at))

    return seat


_waiting = blind(Noop)


def team_of(name: str, order: tuple[str, ...], seats: Seats) -> Team:
    """A team whose seats are made by these makers, and wait where there is none."""
    return Team(name, {seat: seats.get(seat, _waiting) for seat in order})
