"""The inverse of the tables: what a line of log tells, whoever wrote it and in whatever words."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from warroom.sim.streams.component import KINDS
from warroom.sim.streams.template import FIGURES, Role


class ReadLine(NamedTuple):
    """What a line of a template tells."""

    role: Role
    callee: str
    """The service that it speaks of; empty if none."""


class _TemplatePattern(NamedTuple):
    line: re.Pattern[str]
    role: Role


def _pattern(text: str) -> re.Pattern[str]:
    named: set[str] = set()

    def slot(match: re.Match[str]) -> str:
        name = match[1]
        if name in FIGURES:
            return r"\d+"
        if name != "callee":
            return r".+?"
        if name in named:
            return "(?P=callee)"
        named.add(name)
        return r"(?P<callee>[\w-]+)"

    return re.compile(re.sub(r"\\\{(\w+)\\\}", slot, re.escape(text)))


def _patterns() -> Iterator[_TemplatePattern]:
    for kind in KINDS.values():
        for templates in kind.values():
            yield from [_TemplatePattern(_pattern(template.text), template.role) for template in templates.templates]


_PATTERNS = tuple(_patterns())


@lru_cache(maxsize=8192)
def read_line(message: str) -> ReadLine | None:
    """The event that a line tells of; None for a line about resources or outages."""
    for line, role in _PATTERNS:
        if match := line.fullmatch(message):
            return ReadLine(role, match.groupdict().get("callee") or "")
    return None
