"""Templates: the lines of one service and level that differ in numbers only. Letters identify a template."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from warroom.triage.facts import (
    IDS,
    IN_NAMES,
    TIMED,
    FailureType,
    TemplateFacts,
    duration_in,
    facts_of,
    level_of,
    mask,
    status_of,
    status_span,
)
from warroom.triage.time_buckets import BinnedDuration, bin_of

MAX_TEMPLATES = 4_000
MAX_SHAPES = 60_000
"""Texts, digits removed, whose template is cached; beyond that the cache is emptied."""
MAX_DURATIONS = 2_000
"""Durations as written that are cached, for each shape of text."""
OTHER_LINES, CAUSE_SEPARATOR = "(other lines)", " <- "
"""What replaces the words of rare lines, and what separates a line from the error that its stack trace names."""
NEW_TEXT_SHARE = 0.2
"""Share of new texts from which ids are removed before a text is looked up."""
_STATUSES = frozenset(map(str, range(100, 600)))
_DIGITS = b"0123456789"


@dataclass(slots=True)
class LogTemplate:
    """Lines of one service and level that differ in numbers only."""

    number: int
    service: str
    text: str
    """Numbers, ids and addresses masked."""
    facts: TemplateFacts
    alarming: bool
    """Whether they count as alarms: WARN, ERROR or a failure."""
    timed: bool
    """Whether they may state a duration."""
    lines: int = 0


class NumberPosition:
    """Where a number is in all texts of a shape: after the same letters, and before the same."""

    __slots__ = ("after", "before", "known", "last")

    def __init__(self, text: str, span: slice) -> None:
        start, end = span.start, span.stop
        self.before = re.split(r"\d", text[:start])[-1]
        self.after = re.split(r"\d", text[end : end + 4])[0]
        self.last = text.find(self.before) + len(self.before) != start
        """Whether those letters also occur earlier, so that their last occurrence counts."""
        self.known: dict[str, BinnedDuration] = {}
        """By the duration as written."""

    def number(self, text: str) -> str:
        """The number; some other text where this one is not of the shape after all."""
        start = (text.rfind(self.before) if self.last else text.find(self.before)) + len(self.before)
        return text[start : text.find(self.after, start)] if self.after else text[start:]

    def duration(self, text: str) -> BinnedDuration:
        """The duration at this place."""
        written = self.number(text)
        found = self.known.get(written)
        return self._parse(written, text) if found is None else found

    def _parse(self, written: str, text: str) -> BinnedDuration:
        """Search a text for its duration, and cache that if it is at this place."""
        found = duration_in(text)
        if found is None:
            return BinnedDuration(0.0, 0)
        duration = BinnedDuration(found.milliseconds, bin_of(found.milliseconds))
        if text[found.span] == written and len(self.known) < MAX_DURATIONS:
            self.known[written] = duration
        return duration


class TemplateMatch(NamedTuple):
    """The template of a line, and where its duration is, if it states one."""

    template: LogTemplate
    duration: NumberPosition | None


class TextShape:
    """What is known of all texts that are equal once their digits are removed."""

    __slots__ = ("duration", "matches", "named", "status")

    def __init__(self, text: str, bare: str) -> None:
        self.matches: dict[object, TemplateMatch] = {}
        """By the status and the digits in names, where a text has either."""
        status, duration = status_span(text), duration_in(text)
        self.status = NumberPosition(text, status) if status else None
        self.duration = NumberPosition(text, duration.span) if duration else None
        self.named = IN_NAMES.search(bare) is not None

    def detail(self, text: str, bare: str) -> object:
        """What distinguishes the templates of a shape; `bare` is the text without its ids."""
        status = self.status.number(text) if self.status is not None else ""
        if status and status not in _STATUSES:
            status = str(status_of(text))
        return (status, *IN_NAMES.findall(bare)) if self.named else status


class TemplateIndex:
    """All templates of a log."""

    def __init__(self) -> None:
        self.all: dict[int, LogTemplate] = {}
        self.merged = 0
        """Templates that were merged into others to limit memory."""
        self._shapes: dict[tuple[str, str, bytes], TextShape] = {}
        self._by_text: dict[tuple[str, str, str], LogTemplate] = {}
        self._next_number, self._fresh, self._noisy = 0, 0, False

    def match(self, service: str, level: str, text: str) -> TemplateMatch:
        """The template of a line, which is added if it is new."""
        bare = IDS.sub("", text) if self._noisy else text
        key = (service, level, bare.encode("utf-8", "replace").translate(None, _DIGITS))
        shape = self._shapes.get(key)
        if shape is None:
            self._fresh += 1
            shape = self._shapes[key] = TextShape(text, bare)
        detail = shape.detail(text, bare) if shape.named or shape.status is not None else ""
        found = shape.matches.get(detail)
        if found is None:
            found = shape.matches[detail] = TemplateMatch(self.add(service, level, text), shape.duration)
        return found

    def add(self, service: str, word: str, text: str) -> LogTemplate:
        """The template of a text, without the cache; `word` is its level as written."""
        level, masked = level_of(word, text), mask(text)
        found = self._by_text.get((service, level, masked))
        if found is None:
            found = self._create(service, masked, facts_of(masked, level, status_of(text)))
            self._by_text[service, level, masked] = found
        return found

    def _create(self, service: str, text: str, facts: TemplateFacts) -> LogTemplate:
        alarming = facts.level in ("WARN", "ERROR") or facts.failure is not FailureType.NONE
        template = LogTemplate(self._next_number, service, text, facts, alarming, TIMED.search(text) is not None)
        self._next_number += 1
        self.all[template.number] = template
        return template

    def adapt_masking(self, lines: int) -> None:
        """Adapt to the last `lines` lines: where many texts are new, ids are removed first."""
        self._noisy = self._noisy or self._fresh > NEW_TEXT_SHARE * lines
        self._fresh = 0
        if len(self._shapes) > MAX_SHAPES:
            self._shapes.clear()

    def merge_rare(self, summary_of: Callable[[LogTemplate], str]) -> dict[int, int]:
        """Merge the rarest templates until half the room is free; returns old numbers to those that replace them.

        `summary_of` gives the words that are kept: those of a call and of a request.
        """
        ranked = sorted(self.all.values(), key=lambda template: (template.text.startswith(OTHER_LINES), template.lines))
        rare = [
            template
            for template in ranked[: len(ranked) - MAX_TEMPLATES // 2]
            if not template.text.startswith(OTHER_LINES)
        ]
        moved = {template.number: self._merged(template, summary_of(template)).number for template in rare}
        for template in rare:
            del self.all[template.number]
        self.merged += len(moved)
        self._shapes.clear()
        self._by_text = {key: template for key, template in self._by_text.items() if template.number not in moved}
        return moved

    def _merged(self, template: LogTemplate, summary_words: str) -> LogTemplate:
        """The template that replaces a rare one: of the same service, summary and facts."""
        text = f"{OTHER_LINES} {summary_words}" if summary_words else OTHER_LINES
        key = (template.service, template.facts.level, f"{text}{template.facts!r}")
        if key not in self._by_text:
            self._by_text[key] = self._create(template.service, text, template.facts)
        found = self._by_text[key]
        found.lines += template.lines
        found.timed = found.timed or template.timed
        return found
