"""What an importer met and left out, or took otherwise than it stood there: counted by kind, with a few examples."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from warroom.envs.tickets.storage import ImportWarningCount

EXAMPLES = 3
"""Examples of each kind that a report shows."""
LONGEST_EXAMPLE = 160
"""Characters of an example that a report shows."""


class ImportIssue(NamedTuple):
    """One oddity."""

    kind: StrEnum
    example: str


def summarize_issues(issues: Iterable[ImportIssue], meaning: Mapping[StrEnum, str]) -> tuple[ImportWarningCount, ...]:
    """One warning for each kind that was met, in the order of `meaning`."""
    examples: dict[StrEnum, list[str]] = {}
    for kind, example in issues:
        examples.setdefault(kind, []).append(example)
    return tuple(
        ImportWarningCount(str(kind), message, len(examples[kind]), tuple(map(_truncated, examples[kind][:EXAMPLES])))
        for kind, message in meaning.items()
        if kind in examples
    )


def _truncated(example: str) -> str:
    return example if len(example) <= LONGEST_EXAMPLE else f"{example[:LONGEST_EXAMPLE]}..."
