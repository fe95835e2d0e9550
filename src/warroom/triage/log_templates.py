"""Kinds of lines: those of one service and level that differ in numbers only. A kind is told by its letters."""

import re
from collections.abc import Callable
from dataclasses import dataclass

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
from warroom.triage.time_buckets import bin_of

MOST_KINDS = 4_000
MOST_SHAPES = 60_000
"""Texts, digits removed, whose kind is remembered; beyond, all are forgotten and learnt again."""
MOST_NUMBERS = 2_000
"""Durations as written that are remembered, for each shape of text."""
OTHER_LINES, CAUSE_SEPARATOR = "(other lines)", " <- "
"""What stands for the words of rare lines, and between a line and the error that its stack trace names."""
NEW_TEXT_SHARE = 0.2
"""Share of texts seen for the first time from which ids are taken off before a text is looked up."""
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
    """Whether they count for the rate of trouble: WARN, ERROR or a failure."""
    timed: bool
    """Whether they may state a duration."""
    lines: int = 0


class NumberPosition:
    """Where a number stands in all texts of a shape: behind the same letters, and before the same."""

    __slots__ = ("after", "before", "known", "last")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.before = re.split(r"\d", text[:start])[-1]
        self.after = re.split(r"\d", text[end : end + 4])[0]
        self.last = text.find(self.before) + len(self.before) != start
        """Whether those letters come earlier too, so that their last place is the one."""
        self.known: dict[str, tuple[float, int]] = {}
        """Durations as written, to (milliseconds, bin)."""

    def number(self, text: str) -> str:
        """The number, or something else where the text is not what it seems."""
        start = (text.rfind(self.before) if self.last else text.find(self.before)) + len(self.before)
        return text[start : text.find(self.after, start)] if self.after else text[start:]

    def duration(self, text: str) -> tuple[float, int]:
        """(milliseconds, bin) of the duration at this place; 0 milliseconds where there is none."""
        written = self.number(text)
        found = self.known.get(written)
        return self._learn(written, text) if found is None else found

    def _learn(self, written: str, text: str) -> tuple[float, int]:
        """Read a duration in full, and remember it if it stands where it should."""
        found = duration_in(text)
        if found is None:
            return 0.0, 0
        known = found.milliseconds, bin_of(found.milliseconds)
        if text[found.span[0] : found.span[1]] == written and len(self.known) < MOST_NUMBERS:
            self.known[written] = known
        return known


class TextShape:
    """What is known of all texts that are equal once their digits are removed."""

    __slots__ = ("duration", "kinds", "named", "status")

    def __init__(self, text: str, bare: str) -> None:
        self.kinds: dict[object, LogTemplate] = {}
        """By the status and the digits in names, where a text has either."""
        span, found = status_span(text), duration_in(text)
        self.status = NumberPosition(text, *span) if span else None
        self.duration = NumberPosition(text, *found.span) if found else None
        self.named = IN_NAMES.search(bare) is not None

    def detail(self, text: str, bare: str) -> object:
        """What tells the kinds of a shape apart, in a text and in the same without its ids."""
        status = self.status.number(text) if self.status is not None else ""
        if status and status not in _STATUSES:
            status = str(status_of(text))
        return (status, *IN_NAMES.findall(bare)) if self.named else status


class TemplateIndex:
    """All kinds of lines of a log."""

    def __init__(self) -> None:
        self.all: dict[int, LogTemplate] = {}
        self.merged = 0
        """Kinds that were counted with others for want of room."""
        self._shapes: dict[tuple[str, str, bytes], TextShape] = {}
        self._by_text: dict[tuple[str, str, str], LogTemplate] = {}
        self._next_number, self._fresh, self._noisy = 0, 0, False

    def recognise(self, service: str, level: str, text: str) -> tuple[LogTemplate, NumberPosition | None]:
        """The kind of a line, and where its duration stands, if it states one."""
        bare = IDS.sub("", text) if self._noisy else text
        key = (service, level, bare.encode("utf-8", "replace").translate(None, _DIGITS))
        shape = self._shapes.get(key)
        if shape is None:
            self._fresh += 1
            shape = self._shapes[key] = TextShape(text, bare)
        detail = shape.detail(text, bare) if shape.named or shape.status is not None else ""
        kind = shape.kinds.get(detail)
        if kind is None:
            kind = shape.kinds[detail] = self.learn(service, level, text)
        return kind, shape.duration

    def learn(self, service: str, word: str, text: str) -> LogTemplate:
        """The kind of a text, read in full."""
        level, masked = level_of(word, text), mask(text)
        found = self._by_text.get((service, level, masked))
        if found is None:
            found = self._add(service, masked, facts_of(masked, level, status_of(text)))
            self._by_text[service, level, masked] = found
        return found

    def _add(self, service: str, text: str, facts: TemplateFacts) -> LogTemplate:
        alarming = facts.level in ("WARN", "ERROR") or facts.failure is not FailureType.NONE
        kind = LogTemplate(self._next_number, service, text, facts, alarming, TIMED.search(text) is not None)
        self._next_number += 1
        self.all[kind.number] = kind
        return kind

    def adapt_masking(self, lines: int) -> None:
        """Adapt to the last `lines` lines: where most texts are new, ids are taken off first."""
        self._noisy = self._noisy or self._fresh > NEW_TEXT_SHARE * lines
        self._fresh = 0
        if len(self._shapes) > MOST_SHAPES:
            self._shapes.clear()

    def merge_rare(self, summary_of: Callable[[LogTemplate], str]) -> dict[int, int]:
        """Give up the words of the rarest kinds until half the room is free: old numbers to those that replace them.

        `gist_of` gives the words that are kept: those of a call and of a request.
        """
        ranked = sorted(self.all.values(), key=lambda kind: (kind.text.startswith(OTHER_LINES), kind.lines))
        rare = [kind for kind in ranked[: len(ranked) - MOST_KINDS // 2] if not kind.text.startswith(OTHER_LINES)]
        moved = {kind.number: self._other(kind, summary_of(kind)).number for kind in rare}
        for kind in rare:
            del self.all[kind.number]
        self.merged += len(moved)
        self._shapes.clear()
        self._by_text = {key: kind for key, kind in self._by_text.items() if kind.number not in moved}
        return moved

    def _other(self, kind: LogTemplate, summary_words: str) -> LogTemplate:
        """The kind that counts for a rare one: of the same service, gist and facts."""
        text = f"{OTHER_LINES} {summary_words}" if summary_words else OTHER_LINES
        key = (kind.service, kind.facts.level, f"{text}{kind.facts!r}")
        if key not in self._by_text:
            self._by_text[key] = self._add(kind.service, text, kind.facts)
        found = self._by_text[key]
        found.lines += kind.lines
        found.timed = found.timed or kind.timed
        return found
