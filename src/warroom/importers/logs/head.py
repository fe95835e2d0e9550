"""What stands before the text of a log line."""

from typing import NamedTuple

from warroom.importers.logs.times import Moment

NO_LOGS = "[no logs]"
"""The text of a line that says that a service is silent."""


class Head(NamedTuple):
    """A line, taken apart."""

    moment: Moment | None
    service: str
    """As the line writes it; empty where it names none."""
    level: str
    """As the line writes it; empty where it names none."""
    text: str
