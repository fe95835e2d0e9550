"""What the scenes of environments share: states with their facts, sections, and what users lost."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from warroom.core.scene import Section
from warroom.sim.world import World

Fact = tuple[str, str]
"""A figure by name, such as ("p95", "230 ms")."""
T = TypeVar("T")


class KnownState(NamedTuple):
    """How a service is, as far as known."""

    state: str
    facts: tuple[Fact, ...] = ()


def sections(lines: Mapping[str, Iterable[str]]) -> tuple[Section, ...]:
    """A section for each heading that has lines."""
    made = [Section(title, tuple(text)) for title, text in lines.items()]
    return tuple([section for section in made if section.lines])


def of_type(shown: Iterable[object], kind: type[T]) -> list[T]:
    """The observations of one type, in order."""
    return [what for what in shown if isinstance(what, kind)]


def outage_minutes(slo_violation: float) -> str:
    """A violation of service levels in words."""
    return f"{slo_violation:.1f} minutes of full outage"


def violation_until(world: World, minute: int, advance: Callable[[World], None] = World.tick) -> float:
    """What users have lost by then if no seat acts any more; the world is used up."""
    world.keep_history = False
    while world.minute < minute:
        advance(world)
    return world.total_slo_violation


def losses(played: float, alone: float, minute: int) -> tuple[str, str]:
    """What users lost as the incident was played, and would have lost had no seat acted."""
    return (
        f"As it was played, users lost {outage_minutes(played)} up to minute {minute}.",
        f"Had nobody acted, they would have lost {outage_minutes(alone)}.",
    )
