"""What the text of a log line states: its level, how long something took, how it failed, and what it is about.

Facts come from words and numbers alone; the tables are data, and hold no sentences of particular products.
"""

import re
from enum import StrEnum
from typing import NamedTuple

LEVEL_WORDS: dict[str, str] = {
    **dict.fromkeys(("FATAL", "CRITICAL", "CRIT", "EMERGENCY", "EMERG", "ALERT", "PANIC", "SEVERE"), "ERROR"),
    **dict.fromkeys(("ERROR", "ERR"), "ERROR"),
    **dict.fromkeys(("WARNING", "WARN"), "WARN"),
    **dict.fromkeys(("NOTICE", "INFORMATION", "INFO", "LOG", "STATEMENT", "HINT", "DETAIL"), "INFO"),
    **dict.fromkeys(("DEBUG", "DBG", "TRACE", "VERBOSE", "FINE", "FINER", "FINEST"), "DEBUG"),
}
"""Level words of syslog, Java, Python, Go, Node and PostgreSQL, and the four levels that they map to."""
_GUESS = (
    ("ERROR", re.compile(r"\b(?:error|exception|fatal|panic|traceback)\b", re.IGNORECASE)),
    ("WARN", re.compile(r"\bwarn(?:ing)?\b", re.IGNORECASE)),
)


def level_of(word: str, text: str) -> str:
    """ERROR, WARN, INFO or DEBUG: by the level word, else by words of the text where the line states no level."""
    known = LEVEL_WORDS.get(word.upper())
    if known is not None:
        return known
    return next((level for level, pattern in _GUESS if pattern.search(text)), "INFO")


class FailureType(StrEnum):
    """How a request or a call failed."""

    NONE = ""
    LATE = "late"
    """No answer in time."""
    REFUSED = "refused"
    """An answer at once, and a bad one."""


def _any(*phrases: str) -> re.Pattern[str]:
    """One pattern of several phrases, each a regular expression, whatever the case."""
    return re.compile("|".join(phrases), re.IGNORECASE)


_LATE = _any(
    *(r"time[ds]?[ -]?out", r"deadline (?:was )?(?:exceeded|passed|reached|ran out)", r"until the deadline"),
    *(r"gave up (?:on|waiting|after)", r"(?:did|does) not (?:answer|respond|reply)(?! with)", r"not respond"),
    *(r"no (?:answer|response|reply)(?: from| within| after| in time)", r"\bsilent (?:for|until)", r"unresponsive"),
    *(r"still owes", r"SocketTimeout"),
)
_REFUSED = _any(
    *(r"refused", r"\breset by", r"connection (?:reset|closed|lost|aborted)", r"unreachable", r"unavailable"),
    *(r"no route to host", r"broken pipe", r"no such host", r"\bfail(?:ed|ure|ing|s)?\b", r"\berror\b", r"exception\b"),
    *(r"rejected", r"\bdenied\b", r"circuit (?:breaker )?(?:is )?open", r"bad gateway", r"aborted", r"could not"),
    *(r"cannot", r"unable to"),
)
_UNHARMED = _any(
    r"\b(?:no|0|zero|without|any) (?:errors?|failures?|timeouts?)",
    r"\b(?:errors?|failed|failures|timeouts?)[=:] ?(?:0\b|null|nil|none|false|\"\")",
    r"\btimeout(?:_ms|_s)?[=:] ?(?:<n>|\d+) ?m?s?",
    *(r"(?:recovered|succeeded) (?:from|after).*", r"error[_ -]rate", r"error (?:reporting|handler|page|budget)"),
)
"""Words of failure in texts that report none: counts of zero, settings, recoveries."""


def failure_of(text: str, level: str, status: int | None) -> FailureType:
    """How the text says that something failed: by its status, else by its words. A client's error (4xx) is none."""
    if status is not None and status != 408:
        if status < 500:
            return FailureType.NONE
        return FailureType.LATE if status == 504 or _LATE.search(text) else FailureType.REFUSED
    remaining = _UNHARMED.sub("", text)
    if _LATE.search(remaining):
        return FailureType.LATE
    # At INFO a word of failure is often a name or a setting: only lines that were worth a warning count.
    return FailureType.REFUSED if level in ("WARN", "ERROR") and _REFUSED.search(remaining) else FailureType.NONE


_NO_MORE = r"(?![\d.]|\s*m?s\b)"
STATUS = _any(
    r"(?:\bstatus(?:[ _]?code)?|\bcode|\bHTTP/\d(?:\.\d)?\"?|->|=>"
    rf"|\b(?:answered|returned|responded|replied)(?: with)?(?: (?:an? )?error)?)[\s=:\"]*([1-5]\d\d){_NO_MORE}",
    r"\berror ([45]\d\d)\b",
    r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD) \S+(?: failed with)? ([1-5]\d\d)\b",
)
"""An HTTP status behind a word that announces one."""


def status_span(text: str) -> slice | None:
    """Where the text states an HTTP status."""
    match = STATUS.search(text)
    return slice(*match.span(match.lastindex or 0)) if match else None


def status_of(text: str) -> int | None:
    """The HTTP status that the text states."""
    span = status_span(text)
    return int(text[span]) if span else None


_UNITS = {"ms": 1.0, "s": 1000.0, "us": 0.001, "µs": 0.001, "ns": 1e-6, "m": 60_000.0}
_UNITS |= dict.fromkeys(("msec", "millis", "milliseconds", "millisecond"), 1.0)
_UNITS |= dict.fromkeys(("sec", "secs", "seconds", "second"), 1000.0)
"""Milliseconds in each unit."""
_UNIT = "milliseconds?|millis|msec|ms|seconds?|secs?|s|us|µs|ns"
_KEYS = r"duration|latency|elapsed|took|response_?time|request_?time|rt|dur"
_KEYED = _any(rf"\b(?:{_KEYS})(?:[_.]?(ms|seconds|s))?[\"']?[=: ]+(\d+(?:\.\d+)?) ?({_UNIT})?\b")
_PLAIN = re.compile(rf"(?<![\w.])(\d+(?:\.\d+)?) ?({_UNIT})\b")
TIMED = re.compile(rf"(?:\b|\d)(?:{_UNIT})\b|duration|latency|elapsed|_ms\b", re.IGNORECASE)
"""Whether a text, its digits removed, may state a duration."""


class Duration(NamedTuple):
    """A duration that a text states."""

    milliseconds: float
    span: slice
    """Where its number is in the text."""


def duration_in(text: str) -> Duration | None:
    """The duration after a word such as `took`, else the first one; a number without a unit is none."""
    match = _KEYED.search(text)
    if match is not None and (match[1] or match[3]):
        return Duration(float(match[2]) * _UNITS[(match[3] or match[1]).lower()], slice(*match.span(2)))
    match = _PLAIN.search(text)
    return Duration(float(match[1]) * _UNITS[match[2]], slice(*match.span(1))) if match else None


_MASKS = (
    (re.compile(r"\x1b\[[\d;]*m"), ""),
    (re.compile(r"\b[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}\b"), "<id>"),
    (re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}"), "<id>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<address>"),
    (re.compile(r"\b(?=[\da-fA-F]*\d)(?=[\da-fA-F]*[a-fA-F])(?:0x)?[\da-fA-F]{6,}\b"), "<id>"),
    (re.compile(r"\b(?=\w*\d\w*\d\w*\d)(?=\w*[A-Za-z])\w{8,}\b"), "<id>"),
    (
        re.compile(
            r"(?<![A-Za-z_\d])(?<![A-Za-z]-)\d+(?:[.,]\d+)*(?=(?:ms|us|ns|s|m|h|kb|mb|gb|b|k)?\b)", re.IGNORECASE
        ),
        "<n>",
    ),
    (re.compile(r"(?<=[A-Za-z][-_#:])\d{3,}\b"), "<n>"),
)
"""What differs between lines of one template, and its replacement; short numbers in names (`db1`, `user-db-2`) stay."""


def mask(text: str) -> str:
    """The text with numbers, ids and addresses masked, but not its HTTP status: equal for all lines of a template."""
    span = status_span(text)
    status = text[span] if span else ""
    if span:
        text = f"{text[: span.start]}\x00{text[span.stop :]}"
    for pattern, replacement in _MASKS:
        text = pattern.sub(replacement, text)
    return text.replace("\x00", status)


IN_NAMES = re.compile(r"[A-Za-z_-]\d{1,2}(?![\dA-Za-z])")
"""Digits that may be part of a name (`db1`, `user-db-2`): they distinguish lines of otherwise equal words."""
IDS = re.compile(r"\b[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}\b|\b(?=[a-f]*\d)[\da-f]{8,}\b")
"""The commonest ids, for a first pass over a line; `mask` finds more."""

_REQUEST = _any(
    *(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD) /", r"\brequests?\b", r"\baccess\b", r"HTTP/\d"),
    r"\b(?:handled|served|processed|completed|answered|finished|replied)\b",
    r"\b(?:query|statement|transaction|rpc|command|lookup) .*?(?:took|in|done|ok|finished|executed|failed|completed)\b",
)
_NO_REQUEST = _any(
    r"\b(?:background|prefetch|job|cron|batch|scheduled|gc|garbage|heap|probe|health|heartbeat|slow client)\b"
)
_JOBS = "job|backup|export|report|migration|batch"
_VERSION = r"(v?[\w.<>-]*[\d<>][\w.<>-]*)"
_BUILD = _any(
    rf"\b(?:deployed|deploying|rolled out|released|installed) (?:version |build |release |image )?{_VERSION}",
    rf"\b(?:build|version|release) {_VERSION} (?:started|deployed|live|rolled out|is up)",
)
_JOB = _any(
    rf"\b(?:starting|started|begin|beginning) ((?:[\w-]+ ){{0,2}}(?:{_JOBS}))\b",
    rf"\b((?:{_JOBS})(?: [\w<>-]+)?) (?:started|begins|began)\b",
)


class TemplateFacts(NamedTuple):
    """What the lines of a template say, apart from the service that they may mention."""

    level: str
    failure: FailureType
    request: bool
    """Whether they report a request or call that was served or failed."""
    started: str
    """A build or a job that began; empty if none."""


def facts_of(text: str, level: str, status: int | None) -> TemplateFacts:
    """The facts of a masked text at a level, with the status that it stated before it was masked."""
    failure = failure_of(text, level, status)
    request = status is not None or (_REQUEST.search(text) is not None and not _NO_REQUEST.search(text))
    return TemplateFacts(level, failure, request, _started(text))


def _started(text: str) -> str:
    """What a text says began: `build 512` or the name of a job; empty if nothing did."""
    build, job = _BUILD.search(text), _JOB.search(text)
    if build is not None:
        return f"build {build[build.lastindex or 0]}"
    return f"job {job[job.lastindex or 0]}" if job is not None else ""
