"""A log file of any length, plain or gzipped, as counts of what it says: read once, as a stream.

>>> log = read_log(Path("incident.log"))  # doctest: +SKIP
>>> log.log_stats.lines, log.formats  # doctest: +SKIP
(182_331, Counter({'compose': 182_331}))
"""

import codecs
import gzip
import io
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

from warroom.triage.formats import Format, KnownWords, allowed, bare_services, detect_formats, is_parsed, words_in_place
from warroom.triage.log_stats import LogStats
from warroom.triage.parsed_line import ParsedLine
from warroom.triage.service_names import ServiceNames
from warroom.triage.timestamps import TimeReference, Timestamp

STDIN = "-"
CHUNK = 1 << 18
"""Bytes that are read at a time."""
MAX_LINE_LENGTH = 1 << 11
"""Characters of a line that are read; the rest is ignored."""
SAMPLE_LINES = 500
"""Lines at the head of a file from which its format, its clock and its services of plain names are detected."""
MIN_TIMED_SHARE = 0.1
"""Share of those lines that must have times; a line without one counts at the time of the line before."""
MAX_EXAMPLES = 3
"""Unparsed lines that are kept."""
ARCHIVES = {
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ": "xz data",
}
"""Archives and their first bytes."""
_GZIP = b"\x1f\x8b"
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
PROBE = 1 << 16
"""Bytes at the beginning by which text is distinguished from binary data."""
MAX_CONTROL_SHARE = 0.02
"""Share of control characters from which a file counts as binary."""
_COLORS = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_CONTINUES = re.compile(
    r"\s|at [\w.$<>/]+\(|Caused by|Suppressed:|\.\.\. \d+ |Traceback \(most|File \"|goroutine \d|During handling"
    r"|The above exception|(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?::|\s*$)"
)
"""How lines of a stack trace begin."""

ProgressCallback = Callable[[int], None]
"""Called with the number of bytes just read from the file."""


class UnparsedLine(NamedTuple):
    """A line that no format fits."""

    number: int
    """From 1."""
    line: str


@dataclass
class ParsedLog:
    """A log, read."""

    names: ServiceNames
    log_stats: LogStats
    formats: Counter[str] = field(default_factory=Counter)
    """Lines by format."""
    lines: int = 0
    """All lines, empty ones too."""
    continuation_lines: int = 0
    """Lines of stack traces."""
    unparsed_lines: int = 0
    """Lines that no format fits."""
    examples: list[UnparsedLine] = field(default_factory=list)
    """The first of those."""

    @property
    def unparsed_share(self) -> float:
        """Part of the lines that are not empty."""
        return self.unparsed_lines / max(1, self.unparsed_lines + self.continuation_lines + self.log_stats.lines)


def read_log(path: str, known: Iterable[str] = (), on_progress: ProgressCallback = lambda count: None) -> ParsedLog:
    """Read a log file, or standard input for `-`; `known` are services of a topology.

    A `ValueError` says what is wrong with the file and what is read.
    """
    with _opened(path) as raw:
        lines = _lines(_texts(raw, path, on_progress))
        head = _head(lines)
        if not any(line.strip() for line in head):
            raise ValueError(f"{_display_name(path)} is empty: there is nothing to triage")
        reader = _LogReader(head, ServiceNames(known), path)
        for batch in chain([head], lines):
            reader.take(batch)
        return reader.finished(path)


def size_of(path: str) -> int | None:
    """Bytes of a file on disk; None for standard input."""
    return Path(path).stat().st_size if path != STDIN and Path(path).is_file() else None


def _display_name(path: str) -> str:
    return "standard input" if path == STDIN else path


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    if path == STDIN:
        yield sys.stdin.buffer
        return
    file = Path(path)
    if file.is_dir():
        inside = next((str(child) for child in sorted(file.iterdir()) if child.is_file()), f"{path}/app.log")
        raise ValueError(f"{path} is a folder: name one log file, e.g. {inside}")
    if not file.exists():
        raise ValueError(f"no log file {path!r}: name a file, or - for standard input")
    try:
        with file.open("rb") as raw:
            yield raw
    except PermissionError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from error


class _CountingStream(io.RawIOBase):
    """A stream that reports how much of it was read."""

    def __init__(self, raw: IO[bytes], on_progress: ProgressCallback) -> None:
        self._raw, self._on_progress = raw, on_progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self._on_progress(len(data))
        return len(data)


def _texts(raw: IO[bytes], path: str, on_progress: ProgressCallback) -> Iterator[str]:
    """The decoded text, a chunk at a time."""
    stream: io.BufferedReader | gzip.GzipFile = io.BufferedReader(_CountingStream(raw, on_progress), CHUNK)
    if stream.peek(2)[:2] == _GZIP:
        stream = gzip.GzipFile(fileobj=stream)
    try:
        data = stream.read(CHUNK)
        encoding = _encoding(data, path)
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        while data:
            yield decoder.decode(data)
            data = stream.read(CHUNK)
        yield decoder.decode(b"", final=True)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"{_display_name(path)} is gzip data that ends early or is damaged: {error}; pack it again"
        ) from error


def _encoding(data: bytes, path: str) -> str:
    """By the byte order mark, else UTF-8. A `ValueError` for what is no text."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    archive = next((name for magic, name in ARCHIVES.items() if data.startswith(magic)), None)
    if archive is not None:
        raise ValueError(f"{_display_name(path)} is {archive}: unpack it first; plain text and gzip are read")
    controls = len(_CONTROLS.findall(data[:PROBE]))
    if controls > MAX_CONTROL_SHARE * len(data[:PROBE]):
        share = f"{100 * controls / len(data[:PROBE]):.0f}% of its first bytes are control characters"
        raise ValueError(f"{_display_name(path)} is a binary file ({share}): give a text log, plain or gzipped")
    return "utf-8-sig"


def _lines(texts: Iterable[str]) -> Iterator[list[str]]:
    """Lists of whole lines, without colours."""
    rest = ""
    for text in texts:
        joined = rest + text
        if "\x1b" in joined:
            joined = _COLORS.sub("", joined)
        if "\r" in joined:
            joined = joined.replace("\r\n", "\n")
        lines = joined.split("\n")
        rest = lines.pop()
        if len(rest) > MAX_LINE_LENGTH:
            rest = rest[:MAX_LINE_LENGTH]
        yield lines
    yield [rest] if rest else []


def _head(lines: Iterator[list[str]]) -> list[str]:
    """At least the lines that detection needs, if there are so many."""
    head: list[str] = []
    for batch in lines:
        head += batch
        if len(head) >= SAMPLE_LINES:
            break
    return head


def _clock(moments: list[Timestamp | None]) -> TimeReference:
    """How most lines state times; the order of the lines where too few do."""
    clocks = Counter(timestamp.clock for timestamp in moments if timestamp is not None)
    if clocks.total() < MIN_TIMED_SHARE * len(moments) or not clocks:
        return TimeReference.ORDER
    return clocks.most_common(1)[0][0]


class _LogReader:
    """Counts lines; set up by the first lines of a file."""

    def __init__(self, head: list[str], names: ServiceNames, path: str) -> None:
        sample = [line.rstrip() for line in head[: 4 * SAMPLE_LINES] if line.strip() and not _CONTINUES.match(line)][
            :SAMPLE_LINES
        ]
        self.bare: KnownWords = bare_services(sample) | names.listed
        try:
            self.formats: tuple[Format, ...] = detect_formats(sample or [head[0]], self.bare)
        except ValueError as error:
            raise ValueError(f"{_display_name(path)}: {error}") from error
        self.in_place = words_in_place(self.formats[0], sample, self.bare)
        """Plain words that are services in lines of the file's own format; in other lines, only `bare`."""
        moments = [found.timestamp for line in sample if (found := self._read(line)) is not None]
        clock = _clock(moments)
        start = next(
            (timestamp.seconds for timestamp in moments if timestamp is not None and timestamp.clock is clock), 0.0
        )
        self.log = ParsedLog(names, LogStats(clock, names, start))
        self._service = ""

    def _read(self, line: str) -> ParsedLine | None:
        own, *others = self.formats
        heads = (own.read(line, self.in_place), *(form.read(line, self.bare) for form in others))
        return next((head for head in heads if is_parsed(head)), None)

    def take(self, lines: list[str]) -> None:
        """Read some lines; the file's own format is tried first, and in most files fits them all."""
        log, log_stats, number = self.log, self.log.log_stats, self.log.lines
        form, bare = self.formats[0], self.in_place
        fitted = 0
        for line in lines:
            number += 1
            if len(line) > MAX_LINE_LENGTH:
                line = line[:MAX_LINE_LENGTH]
            head = form.read(line, bare)
            if head is None or not head.service:
                self._take_other(number, line)
            elif not head.level and _CONTINUES.match(head.text):
                self._attach(number, line, head)
            else:
                fitted += 1
                self._service = head.service
                log_stats.take(number, line, head)
        log.lines = number
        log.formats[form.name] += fitted

    def _take_other(self, number: int, line: str) -> None:
        """A line of another format, of a stack trace, or of none."""
        if not line or line.isspace():
            return
        if _CONTINUES.match(line) and self.log.log_stats.attach_continuation(self._service, line):
            self.log.continuation_lines += 1
            return
        for form in self.formats[1:]:
            head = form.read(line.strip(), self.bare)
            if head is not None and head.service:
                self.log.formats[form.name] += 1
                self._service = head.service
                self.log.log_stats.take(number, line, head)
                return
        self.log.unparsed_lines += 1
        if len(self.log.examples) < MAX_EXAMPLES:
            self.log.examples.append(UnparsedLine(number, line[:120]))

    def _attach(self, number: int, line: str, head: ParsedLine) -> None:
        if self.log.log_stats.attach_continuation(head.service, head.text):
            self.log.continuation_lines += 1
        else:
            self.log.log_stats.take(number, line, head)

    def finished(self, path: str) -> ParsedLog:
        """The log, at the end of the file."""
        log = self.log
        log.formats += Counter()
        if not log.log_stats.lines:
            raise ValueError(f"{_display_name(path)}: no line names a service; {allowed()}")
        log.log_stats.finish()
        return log
