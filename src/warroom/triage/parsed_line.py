"""The parts of a log line."""

from typing import NamedTuple

from warroom.triage.timestamps import Timestamp

NO_LOGS = "[no logs]"
"""The text of a line that says that a service is silent."""


class ParsedLine(NamedTuple):
    """A line, split into its parts."""

    timestamp: Timestamp | None
    service: str
    """As the line writes it; empty where it names none."""
    level: str
    """As the line writes it; empty where it names none."""
    text: str
