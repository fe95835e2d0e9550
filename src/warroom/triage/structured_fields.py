"""Structured log lines, JSON and logfmt: which keys hold the time, the service, the level and the text."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache

from warroom.triage.parsed_line import ParsedLine
from warroom.triage.timestamps import STAMP, Timestamp, timestamp

SERVICE_KEYS = (
    *("service", "service.name", "service_name", "serviceName", "svc", "app", "application", "app.name"),
    *("kubernetes.container_name", "kubernetes.container.name", "container_name", "container", "component", "logger"),
)
LEVEL_KEYS = (
    *("level", "severity", "lvl", "log.level", "levelname", "loglevel", "severityText", "severity_text"),
    *("LEVEL", "Level"),
)
TIME_KEYS = ("time", "ts", "timestamp", "@timestamp", "t", "datetime", "date", "asctime", "Timestamp")
TEXT_KEYS = ("msg", "message", "log", "event", "body", "text", "short_message", "Message")
"""Keys under which loggers of several languages write these; the first that is present counts."""
NUMBERED_LEVELS = {10: "TRACE", 20: "DEBUG", 30: "INFO", 40: "WARN", 50: "ERROR", 60: "FATAL"}
"""The levels of bunyan and pino."""
_TAKEN = frozenset((*SERVICE_KEYS, *LEVEL_KEYS, *TIME_KEYS, *TEXT_KEYS))
_UNINFORMATIVE = re.compile(
    r"(?:.*[._-])?(?:id|pid|hostname|host|thread|caller|stream|source|version|v|file|line|sampled|flags)$"
    r"|.*[a-z](?:Id|ID)$",
    re.IGNORECASE,
)
"""Keys whose values say nothing about what happened."""


def from_json(line: str) -> ParsedLine | None:
    """A line that is a JSON object with a text or a level; else None."""
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    return _from_fields(fields) if isinstance(fields, dict) else None


_PAIR = re.compile(r'([A-Za-z_@][\w.@-]*)=("(?:[^"\\]|\\.)*"|\S*)')


def from_pairs(line: str) -> ParsedLine | None:
    """A line that begins with `key=value` and has a text or a level; else None."""
    if not _PAIR.match(line):
        return None
    return _from_fields({key: _unquoted(value) for key, value in _PAIR.findall(line)})


def _unquoted(value: str) -> str:
    return value[1:-1].replace('\\"', '"') if value[:1] == '"' else value


def _from_fields(fields: Mapping[str, object]) -> ParsedLine | None:
    text, level, service = (_find(fields, keys) for keys in (TEXT_KEYS, LEVEL_KEYS, SERVICE_KEYS))
    if text is None and level is None:
        return None
    word = NUMBERED_LEVELS.get(level, "") if isinstance(level, int) else str(level or "")
    text = f"{'' if text is None else text}{_other_facts(fields)}"
    return ParsedLine(_timestamp_in(_find(fields, TIME_KEYS)), str(service or ""), word, text)


def _find(fields: Mapping[str, object], keys: tuple[str, ...]) -> str | int | float | None:
    """The value of the first key that is present, also nested: `a.b` is `b` of the mapping `a`."""
    for key in keys:
        value = fields.get(key)
        if value is None and "." in key:
            outer, _, inner = key.partition(".")
            nested = fields.get(outer)
            value = nested.get(inner) if isinstance(nested, dict) else None
        if isinstance(value, str | int | float):
            return value
    return None


_STAMP = re.compile(STAMP)


def _timestamp_in(value: str | int | float | None) -> Timestamp | None:
    match = _STAMP.match(str(int(value) if isinstance(value, float) else value))
    return timestamp(match[1], match[2]) if match else None


@lru_cache(maxsize=4096)
def _is_fact(key: str) -> bool:
    return key not in _TAKEN and not _UNINFORMATIVE.match(key)


def _other_facts(fields: Mapping[str, object]) -> str:
    """The rest of the line as `key=value`: durations, statuses and addresses are often only there."""
    return "".join([
        f" {key}={value}" for key, value in fields.items() if isinstance(value, str | int | float) and _is_fact(key)
    ])  # fmt: skip
