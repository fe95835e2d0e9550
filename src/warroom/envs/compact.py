"""What the compact renderers share: numbered slots for the things of an incident, graded words, calls on one line."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from warroom.core.renderer import Vocab
from warroom.core.rng import stream
from warroom.core.schemas import Schema
from warroom.core.types import Brief

SLOTS = 48
"""Services that can be told apart; a system with more does not fit."""
SLOT = tuple(f"s{i}" for i in range(SLOTS))
MINUTES, TURNS = range(-12, 32), range(1, 33)
"""Minutes and turns that have words."""
Grades = tuple[tuple[float, str], ...]
"""Lower bounds, each with its word, in ascending order; below the first nothing is said."""


def grade_word(table: Grades, value: float) -> str:
    """The word of the highest bound that `value` reaches; empty if there is none."""
    return next((word for bound, word in reversed(table) if value >= bound), "")


def grade_words(tables: Iterable[Grades]) -> list[str]:
    """Every word of the tables."""
    return [word for table in tables for _, word in table if word]


def time_words() -> list[str]:
    """The words for minutes and turns."""
    return [*[f"@{minute}" for minute in MINUTES], *[f"T{turn}" for turn in TURNS]]


def make_vocab(
    words: Iterable[str], tools: tuple[str, ...], symbols: tuple[str, ...], confidence_words: tuple[str, ...] = ()
) -> Vocab:
    """A vocabulary of those words, each once."""
    return Vocab(tuple(dict.fromkeys(words)), tools, symbols, confidence_words)


def assign_slots(names: Sequence[str], *subject: str) -> dict[str, str]:
    """A slot for each service, drawn anew for each incident; `subject` is what the draw depends on."""
    if len(names) > SLOTS:
        raise ValueError(f"the compact rendering tells {SLOTS} services apart, and this system has {len(names)}")
    return dict(zip(names, stream(0, "shorthand", *subject).sample(SLOT, len(names)), strict=True))


def line_words(arguments: Mapping[str, object]) -> list[str]:
    """The words on the line of a call."""
    return str(arguments.get("line", "")).split()


class LineRenderer:
    """A renderer in which every tool takes one line."""

    LINE: ClassVar[str]
    """What stands on the line, as the tools' schemas say it."""

    def __init__(self, brief: Brief) -> None:
        self.brief = brief

    def opening(self) -> str:
        """The seat: a small model knows its job from training."""
        return self.brief.seat

    def tool_schemas(self, *, closed: bool = False) -> tuple[Schema, ...]:
        """Every tool takes one line."""
        line = {"type": "string", "description": self.LINE}
        parameters = {"type": "object", "properties": {"line": line}, "required": ["line"]}
        return tuple({**schema, "parameters": parameters} for schema in self.brief.tools)
