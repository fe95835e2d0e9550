"""What the scenes of environments share: states with their facts, and sections."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

from warroom.core.scene import Section

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
