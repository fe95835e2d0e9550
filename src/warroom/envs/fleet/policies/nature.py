"""Failures that no change made: what a scripted seat takes them for, by the lines about resources.

The cause is the resource that lines call used up, expired or out of reach, and whose lines have become more with the
trouble. Lines about waiting follow behind any trouble, and lines at a steady rate are those of any day.
"""

from collections import Counter
from collections.abc import Iterator

from warroom.core.types import ToolCall
from warroom.envs.fleet.policies.knowledge import Knowledge
from warroom.sim.family import Mechanism
from warroom.sim.log_search import LogMatches
from warroom.sim.streams.symptom_lines import ReadSymptom, read_symptom
from warroom.sim.symptoms import AT_CALLERS

RISEN = 1.5
"""Multiple of the lines a minute before the trouble from which they have become more."""
BEFORE, LATELY = 4, 2
"""Minutes at the beginning of a search that are before the trouble, and at its end that are in it."""
LOOK_BACK = 12
"""Minutes before the first page from which lines are counted: trouble begins up to six minutes before it."""
_LEVELS = ("level:error", "level:warn")
_DIGS = 2
"""Searches that leave out what was seen, for lines that are rare."""


def natural_cause(known: Knowledge, victim: str) -> Mechanism | None:
    """The failure whose lines have become more frequent at a place or at its callers; None if none has."""
    risen: Counter[Mechanism] = Counter()
    for (service, query), found in known.logs.items():
        read = next((r for line in found.newest if query.words and (r := read_symptom(line.message))), None)
        if read is not None and _is_about(read, service, victim) and _has_risen(found):
            risen[read.mechanism] += found.per_minute[-1]
    return max(risen, key=lambda mechanism: risen[mechanism], default=None)


def symptom_readings(known: Knowledge, victim: str, since: str) -> Iterator[ToolCall]:
    """Searches for lines about resources: what there is at the place and at its callers, then how it has moved."""
    for service in [victim, *known.callers(victim)]:
        for level in _LEVELS:
            yield _search(service, f"trace:none {level}", since)
        yield from _counts(known, service, victim, since)
        for _ in range(_DIGS):
            if natural_cause(known, victim) is not None:
                return
            yield _search(service, _without_what_was_seen(known, service), since)
            yield from _counts(known, service, victim, since)


def _search(service: str, words: str, since: str) -> ToolCall:
    return ToolCall("logs", {"service": service, "words": words, "since": since})


def _counts(known: Knowledge, service: str, victim: str, since: str) -> Iterator[ToolCall]:
    """For each failing resource that was read of, how many of its lines there are, minute by minute."""
    seen: dict[Mechanism, str] = {}
    for message in _messages(known, service):
        read = read_symptom(message)
        if read is not None and _is_about(read, service, victim):
            seen.setdefault(read.mechanism, message)
    for message in seen.values():
        yield _search(service, " ".join(_telling_words(message)[:3]), since)


def _messages(known: Knowledge, service: str) -> list[str]:
    return [
        line.message for (where, query), found in known.logs.items()
        if where == service and not query.words for line in found.newest
    ]  # fmt: skip


def _without_what_was_seen(known: Knowledge, service: str) -> str:
    """A search that leaves out the most frequent kinds of lines, each by its longest word."""
    words = Counter([_telling_words(message)[0] for message in _messages(known, service)])
    return " ".join(["trace:none", *[f"-{word}" for word, _ in words.most_common(3)]])


def _telling_words(message: str) -> list[str]:
    """The words of a line that are no figures, the longest first."""
    words = [word for word in dict.fromkeys(message.lower().split()) if not any(map(str.isdigit, word))]
    return sorted([word for word in words if not word.startswith("-")], key=len, reverse=True)


def _is_about(read: ReadSymptom, service: str, victim: str) -> bool:
    """Whether a line tells that something at the place is used up, expired or out of reach."""
    if read.tells != "state":
        return False
    if read.mechanism in AT_CALLERS:
        return read.callee == victim
    return service == victim


def _has_risen(found: LogMatches) -> bool:
    """Whether lines have become more since before the trouble."""
    before = sum(found.per_minute[:BEFORE]) / BEFORE
    return sum(found.per_minute[-LATELY:]) / LATELY > max(1.0, RISEN * before)
