"""What an importer met and left out, or took otherwise than it stood there: counted by kind, with a few examples."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from warroom.envs.tickets.storage import Warned

EXAMPLES = 3
"""Examples of each kind that a report shows."""
LONGEST_EXAMPLE = 160
"""Characters of an example that a report shows."""


class Met(NamedTuple):
    """One oddity."""

    kind: StrEnum
    example: str


def tally(met: Iterable[Met], meaning: Mapping[StrEnum, str]) -> tuple[Warned, ...]:
    """One warning for each kind that was met, in the order of `meaning`."""
    examples: dict[StrEnum, list[str]] = {}
    for kind, example in met:
        examples.setdefault(kind, []).append(example)
    return tuple(
        Warned(str(kind), message, len(examples[kind]), tuple(map(_cut, examples[kind][:EXAMPLES])))
        for kind, message in meaning.items()
        if kind in examples
    )


def _cut(example: str) -> str:
    return example if len(example) <= LONGEST_EXAMPLE else f"{example[:LONGEST_EXAMPLE]}..."
