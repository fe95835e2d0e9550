"""Timestamps of log lines, in all common formats, as seconds, and back."""

import re
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

DAY = 86_400
"""Seconds."""


class TimeReference(StrEnum):
    """What the seconds of a file count from."""

    ZONED = "date and time with a zone"
    LOCAL = "date and time without a zone"
    TIME = "time of day"
    PAGE = "minutes relative to a page"
    ORDER = "no times: the order of the lines"


class Timestamp(NamedTuple):
    """A time as a line states it."""

    clock: TimeReference
    seconds: float


_ISO = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?"
_ACCESS = r"\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d"
_SYSLOG = r"[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d"
_TIME = r"\d\d:\d\d:\d\d"
_EPOCH = r"\d{10}(?:\d{9}|\d{6}|\d{3})?(?!\d)"
STAMP = rf"\[?({_ISO}|{_TIME}|{_EPOCH}|{_SYSLOG}|{_ACCESS})(?:[.,]\d+)?( ?(?:Z|UTC|[+-]\d\d:?\d\d))?\]?"
"""A pattern of two groups: the time in whole seconds, and its zone or nothing. Fractions of seconds are ignored."""
ACCESS_STAMP = rf".{{0,80}}?\[({_ACCESS}) ([+-]\d{{4}})\]"
"""A pattern of the time that access logs put after the client's address, in the groups of `STAMP`."""
SHAPES = (
    "2026-03-04T10:15:32Z",
    "2026-03-04 10:15:32",
    "10:15:32",
    "1772619332",
    "Mar  4 10:15:32",
    "04/Mar/2026:10:15:32 +0000",
)
"""One example of each kind of time that is read."""
_SYSLOG_YEAR = 2000
"""Syslog's short form has no year; a leap year holds every date, and only differences count."""
_PER_SECOND = {10: 1, 13: 1_000, 16: 1_000_000, 19: 1_000_000_000}
"""Digits of an epoch time to its units in a second; good until the year 2286."""


@lru_cache(maxsize=4096)
def timestamp(stamp: str, zone: str | None = None) -> Timestamp | None:
    """Parse a time that `STAMP` matched; None where there is no such date or time. Without a zone it counts as UTC."""
    try:
        if stamp.isdigit():
            return Timestamp(TimeReference.ZONED, int(stamp) // _PER_SECOND[len(stamp)])
        if stamp[2] == ":":
            time = datetime.fromisoformat(f"{_SYSLOG_YEAR}-01-01T{stamp}")
            return Timestamp(TimeReference.TIME, 3600 * time.hour + 60 * time.minute + time.second)
        offset = (zone or "").strip().replace("UTC", "Z") or "Z"
        clock = TimeReference.ZONED if zone else TimeReference.LOCAL
        return Timestamp(clock, _with_date(stamp, offset).timestamp())
    except ValueError:
        return None


def _with_date(stamp: str, offset: str) -> datetime:
    if stamp[0].isalpha():
        return datetime.strptime(f"{_SYSLOG_YEAR} {stamp}{offset}", "%Y %b %d %H:%M:%S%z")
    if stamp[2] == "/":
        return datetime.strptime(f"{stamp}{offset}", "%d/%b/%Y:%H:%M:%S%z")
    return datetime.fromisoformat(f"{stamp.replace('/', '-')}{offset}")


def observation_timestamp(minutes: str, seconds: str) -> Timestamp:
    """A time of the environment's own pages: `-2:15` is 15 seconds into the second minute before the page."""
    return Timestamp(TimeReference.PAGE, 60 * int(minutes) + int(seconds))


def nearest_day(seconds: float, last: float) -> float:
    """A time of day as seconds on the day that is nearest to the line before: logs may continue past midnight."""
    return seconds + DAY * round((last - seconds) / DAY)


def format_time(clock: TimeReference, seconds: float) -> str:
    """The time as the log writes it."""
    if clock is TimeReference.ORDER:
        return f"line {int(seconds)}"
    if clock is TimeReference.PAGE:
        return f"{int(seconds // 60):+d}:{int(seconds % 60):02d}"
    if clock is TimeReference.TIME:
        return f"{int(seconds % DAY) // 3600:02d}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"
    date = datetime.fromtimestamp(seconds, UTC)
    form = "%b %d %H:%M:%S" if date.year == _SYSLOG_YEAR else "%Y-%m-%d %H:%M:%S"
    return date.strftime(form) + ("Z" if clock is TimeReference.ZONED else "")


_WHOLE = re.compile(STAMP)
_PAGE = re.compile(r"([+-]?\d+)(?::(\d\d))?")
_SHORT_TIME = re.compile(r"\d\d:\d\d")


def read_split(text: str, clock: TimeReference, first: float, last: float) -> float:
    """The seconds that a person means by `text`, in a log of this clock that runs from `first` to `last`.

    A `ValueError` says what fits this log. A time of day fits a log with dates too: the latest such time in it.
    """
    seconds = _parse_split(text.strip(), clock, last)
    if seconds is None:
        raise ValueError(
            f"cannot split this log at {text!r}: it has {clock.value}, e.g. {format_time(clock, (first + last) / 2)}"
        )
    if not first < seconds <= last:
        span = f"{format_time(clock, first)} to {format_time(clock, last)}"
        raise ValueError(f"cannot split at {text.strip()}: the log runs from {span}; choose a time after its start")
    return seconds


def _parse_split(text: str, clock: TimeReference, last: float) -> float | None:
    if clock is TimeReference.ORDER:
        number = text.removeprefix("line ")
        return float(number) if number.isdigit() else None
    if clock is TimeReference.PAGE:
        page = _PAGE.fullmatch(text)
        return observation_timestamp(page[1], page[2] or "0").seconds if page else None
    if _SHORT_TIME.fullmatch(text):
        text += ":00"
    match = _WHOLE.fullmatch(text)
    found = timestamp(match[1], match[2]) if match else None
    if found is None:
        return None
    if found.clock is TimeReference.TIME:
        seconds = nearest_day(found.seconds, last)
        return seconds if seconds <= last else seconds - DAY
    return found.seconds if clock is not TimeReference.TIME else None
