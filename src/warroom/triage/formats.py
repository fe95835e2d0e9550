"""Formats of log lines: a table of parsers, and which of them fit a file.

A parser returns None for a line of another format. Formats that prefix what a service wrote with its name
(`docker compose logs`, `kubectl logs --prefix`) parse the rest in any of the other ways.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from warroom.importers.topology.roles import FRONTENDS, STORES, matches_role
from warroom.triage.facts import LEVEL_WORDS
from warroom.triage.parsed_line import NO_LOGS, ParsedLine
from warroom.triage.structured_fields import from_json, from_pairs
from warroom.triage.timestamps import ACCESS_STAMP, SHAPES, STAMP, observation_timestamp, timestamp

KnownWords = frozenset[str]
"""Plain words, without hyphen or underscore, that are known to be services here."""
LineParser = Callable[[str, KnownWords], ParsedLine | None]


class Format(NamedTuple):
    """One format of lines."""

    name: str
    example: str
    read: LineParser


LEVELS = frozenset(form(word) for word in LEVEL_WORDS for form in (str.upper, str.lower, str.title))
"""Level words, in upper, lower and title case."""
_WORD = r"\[?([A-Za-z]+)\]?:?"
"""Where a level may be; whether it is one is looked up."""
_NAME = r"[A-Za-z][\w./-]*"
_MARKED = rf"(\[?)({_NAME})((?:,[^\]\s]*)?\]?:?)(?=\s|$)"
"""Where a service may be, in brackets (with ids after a comma, as Spring writes it), before a colon, or neither."""
GATEWAY = "gateway"
"""The service of an access log, whose lines name none."""
_GAP = r"\s+(?:[-|]\s+)?"
_TEXT = r"\s*(?:[-|]\s+)?(.*)"


def _is_service(opened: str, name: str, closed: str, bare: KnownWords) -> bool:
    """Whether a word is a service: by its form, its brackets or colon, or since it is known."""
    return "-" in name or name in bare or bool(opened or closed) or "_" in name or _is_role_name(name)


@lru_cache(maxsize=4096)
def _is_role_name(name: str) -> bool:
    """Whether a plain word names a store or a frontend: `redis`, `gateway`."""
    return any(matches_role(role, name.lower()) for role in (*STORES.values(), FRONTENDS))


# -- times, levels and services in some order ------------------------------------------------------------

_LEVEL_THEN_NAME = re.compile(rf"{STAMP}{_GAP}{_WORD}{_GAP}{_MARKED}{_TEXT}")
_NAME_THEN_LEVEL = re.compile(rf"{STAMP}{_GAP}{_MARKED}{_GAP}{_WORD}(?=\s){_TEXT}")
_LEADING_LEVEL = re.compile(rf"{_WORD}\s+{_MARKED}{_TEXT}")


def _timed(line: str, bare: KnownWords) -> ParsedLine | None:
    match = _LEVEL_THEN_NAME.match(line)
    if match is None:
        return None
    stamp, zone, level, opened, service, closed, text = match.groups()
    if level not in LEVELS or not _is_service(opened, service, closed, bare):
        return None
    return ParsedLine(timestamp(stamp, zone), service, level, text)


def _service_first(line: str, bare: KnownWords) -> ParsedLine | None:
    match = _NAME_THEN_LEVEL.match(line)
    if match is None or match[6] not in LEVELS or not _is_service(match[3], match[4], match[5], bare):
        return None
    return ParsedLine(timestamp(match[1], match[2]), match[4], match[6], match[7])


def _level_first(line: str, bare: KnownWords) -> ParsedLine | None:
    match = _LEADING_LEVEL.match(line)
    if match is None or match[1] not in LEVELS or not _is_service(match[2], match[3], match[4], bare):
        return None
    return ParsedLine(None, match[3], match[1], match[5])


_PAGE = re.compile(rf"([+-]?\d+):(\d\d)\s+([A-Za-z]+)\s+({_NAME}):?\s+(.*)")


def _page(line: str, bare: KnownWords) -> ParsedLine | None:
    match = _PAGE.match(line)
    if match is None or match[3] not in LEVELS:
        return None
    return ParsedLine(observation_timestamp(match[1], match[2]), match[4], match[3], match[5])


_PLAIN = re.compile(rf"({_NAME})\s+(?:\[([A-Za-z]+)\]\s*:?|([A-Za-z]+)\s*:)\s*(.*)")
_SILENT = re.compile(rf"({_NAME}):\s*\[no (?:logs|lines)[^\]]*\]\s*$")


def _plain(line: str, bare: KnownWords) -> ParsedLine | None:
    match = _PLAIN.match(line)
    if match is not None and (match[2] or match[3]) in LEVELS:
        return ParsedLine(None, match[1], match[2] or match[3], match[4])
    silent = _SILENT.match(line)
    return ParsedLine(None, silent[1], "", NO_LOGS) if silent else None


# -- structured lines, and those of log collectors ---------------------------------------------------------------


def _json(line: str, bare: KnownWords) -> ParsedLine | None:
    return _unwrapped(from_json(line)) if line.startswith("{") else None


def _logfmt(line: str, bare: KnownWords) -> ParsedLine | None:
    return from_pairs(line)


def _unwrapped(head: ParsedLine | None) -> ParsedLine | None:
    """A line without Docker's json-file wrapper, whose text is what the service wrote."""
    if head is None or head.level or head.service:
        return head
    inner = body(head.text.rstrip())
    return inner._replace(timestamp=head.timestamp or inner.timestamp)


_SYSLOG_LEVELS = ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")
"""By severity, 0 to 7 (RFC 5424, section 6.2.1)."""
_RFC5424 = re.compile(rf"<(\d+)>1 {STAMP} \S+ (\S+) \S+ \S+ (?:-|(?:\[[^\]]*\])+) ?(.*)")
_RFC3164 = re.compile(rf"(?:<(\d+)>)?{STAMP} [\w.-]+ ({_NAME})(?:\[\d+\])?: (.*)")


def _syslog(line: str, bare: KnownWords) -> ParsedLine | None:
    match = _RFC5424.match(line) or _RFC3164.match(line)
    if match is None or match[4] == "-":
        return None
    inner = body(match[5])
    level = inner.level or (_SYSLOG_LEVELS[int(match[1]) & 7] if match[1] else "")
    return ParsedLine(timestamp(match[2], match[3]), match[4], level, inner.text)


_PROXIED = re.compile(rf"\S+ \S+ \S+ {STAMP} (\"[^\"]*\" (\d{{3}}) \S+)(?: \"[^\"]*\" \"[^\"]*\")?(.*)")
"""The common and the combined access log; referrer and user agent are ignored."""


def _access(line: str, bare: KnownWords) -> ParsedLine | None:
    match = _PROXIED.match(line)
    if match is None:
        return None
    level = "ERROR" if match[4] >= "500" else "INFO"
    return ParsedLine(timestamp(match[1], match[2]), GATEWAY, level, match[3] + match[5])


_COMPOSE = re.compile(r"([A-Za-z0-9][\w./-]*)\s*\| ?(.*)")
_KUBECTL = re.compile(r"\[pod/([^/\]]+)/([^\]]+)\] ?(.*)")
_SIDECARS = frozenset(("app", "main", "server", "service", "web", "istio-proxy", "linkerd-proxy", "envoy"))
"""Containers whose name says less than that of their pod."""


def _prefixed(line: str, bare: KnownWords) -> ParsedLine | None:
    match = _COMPOSE.match(line)
    if match is not None:
        return body(match[2])._replace(service=match[1])
    match = _KUBECTL.match(line)
    if match is None:
        return None
    return body(match[3])._replace(service=match[1] if match[2] in _SIDECARS else match[2])


_STAMPED, _ACCESS = re.compile(rf"{STAMP}:?\s+(.*)"), re.compile(ACCESS_STAMP)
_STAMPS_BEGIN = frozenset("0123456789[JFMASOND")
_LEVEL_FIRST = re.compile(r"\[?([A-Za-z]+)\]?(?=[\s:-])[\s:-]*(.*)")
_LEVEL_NEAR = re.compile(rf".{{0,40}}?[\s\[|]({'|'.join(LEVEL_WORDS)})[\]|:]?\s+(?:[-:]\s*)?(.*)")


def body(text: str) -> ParsedLine:
    """The text that follows a service's name: structured, with a time or a level before it, or neither."""
    when = None
    for _ in range(2):  # the collector's time, then the service's own
        stamped = _STAMPED.match(text) if text[:1] in _STAMPS_BEGIN else None
        if stamped is None:
            break
        when, text = timestamp(stamped[1], stamped[2]) or when, stamped[3]
    inside = _ACCESS.match(text) if when is None and "[" in text else None
    if inside is not None:
        when = timestamp(inside[1], inside[2])
    level = _LEVEL_FIRST.match(text)
    if level is not None and level[1] in LEVELS:
        return ParsedLine(when, "", level[1], level[2])
    found = from_json(text) if text[:1] == "{" else from_pairs(text) if "=" in text else None
    if found is not None:
        return found._replace(timestamp=found.timestamp or when)
    near = _LEVEL_NEAR.match(text)
    return ParsedLine(when, "", near[1], near[2]) if near else ParsedLine(when, "", "", text)


FORMATS: tuple[Format, ...] = (
    Format("page", "-2:15 ERROR auth-service text", _page),
    Format("json", '{"time": "2026-03-04T10:15:32Z", "service": "auth", "level": "error", "msg": "text"}', _json),
    Format("compose", "auth-service-1  | text", _prefixed),
    Format("syslog", "Mar  4 10:15:32 host auth-service[71]: text", _syslog),
    Format("access log", '10.0.0.1 - - [04/Mar/2026:10:15:32 +0000] "GET /cart HTTP/1.1" 502 17', _access),
    Format("timed", "2026-03-04 10:15:32 ERROR auth-service text", _timed),
    Format("timed, service first", "10:15:32 auth-service [ERROR] text", _service_first),
    Format("plain", "auth-service ERROR: text", _plain),
    Format("level first", "ERROR auth-service text", _level_first),
    Format("logfmt", 'ts=2026-03-04T10:15:32Z level=error service=auth msg="text"', _logfmt),
)
"""All formats; of two that fit a file equally well, the earlier one is taken."""


def detect_formats(lines: Iterable[str], bare: KnownWords) -> tuple[Format, ...]:
    """All formats, those first that fit most of a file's first lines. A `ValueError` if none fits any of them."""
    sample = list(lines)
    fitting = Counter({form.name: sum(is_parsed(form.read(line, bare)) for line in sample) for form in FORMATS})
    if not fitting.total():
        raise ValueError(f"no format fits: the file begins with {sample[0][:80]!r}; {allowed()}")
    return tuple(sorted(FORMATS, key=lambda form: -fitting[form.name]))


def is_parsed(head: ParsedLine | None) -> bool:
    """Whether a line was parsed: it has to name its service."""
    return head is not None and head.service != ""


def allowed() -> str:
    """The accepted formats, for an error."""
    examples = "; ".join(form.example for form in FORMATS)
    return f"lines like these are read: {examples}; with times like {', '.join(SHAPES)}"


NAMED_BY_PLACE = frozenset(("timed", "timed, service first", "level first"))
"""Formats in which only the position shows that a plain word is a service."""
MIN_FORMAT_SHARE = 0.25
"""Share of lines by known services, among the lines with a word in that position, from which all words there count as
services: often half of a system has plain names."""
_SENTENCES = frozenset(
    "a an the no not failed could cannot unable connection request response timeout error exception retrying starting "
    "started stopping stopped shutting listening connected disconnected received sending using loaded waiting".split()
)
"""Words that begin the sentence of a line without service."""
_SINGLE_WORD = re.compile(r"[a-z][a-z0-9]+")


class AnyServiceWord(frozenset[str]):
    """All plain words that do not begin a sentence."""

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and word not in _SENTENCES and _SINGLE_WORD.fullmatch(word) is not None


def words_in_place(form: Format, sample: Iterable[str], bare: KnownWords) -> KnownWords:
    """Which plain words are services in a file of a format: all if enough of its lines are of known services."""
    lines, every = list(sample), AnyServiceWord()
    sure, possible = [sum(is_parsed(form.read(line, words)) for line in lines) for words in (bare, every)]
    return every if form.name in NAMED_BY_PLACE and sure and sure >= MIN_FORMAT_SHARE * possible else bare


_AFTER_LEVEL = re.compile(rf"(?:{STAMP}\s+)?{_WORD}\s+(?P<service>[a-z][a-z0-9]+)\s+(?P<next>\S+)")
_BEFORE_LEVEL = re.compile(rf"{STAMP}\s+(?P<service>[a-z][a-z0-9]+)\s+{_WORD}\s")


def bare_services(lines: Iterable[str]) -> KnownWords:
    """Plain words in the position of services, before different words: `cart` of `INFO cart saved`, `INFO cart read`.

    A text that begins there has the same word before the same next word, most of the time. A word between a time and
    a level is a service whatever follows.
    """
    followers: dict[str, set[str]] = {}
    certain: set[str] = set()
    for line in lines:
        first, later = _BEFORE_LEVEL.match(line), _AFTER_LEVEL.match(line)
        if first is not None and first[4] in LEVELS:
            certain.add(first["service"])
        elif later is not None and later[3] in LEVELS:
            followers.setdefault(later["service"], set()).add(later["next"])
    return frozenset(certain | {word for word, after in followers.items() if len(after) > 1})
