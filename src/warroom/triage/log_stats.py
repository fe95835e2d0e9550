"""What is kept of a log while it streams by: counts of each kind of line by time, and a few lines as they stand.

Memory is bounded whatever the length of the log: time is cut into slices that double when there are too many of them,
and kinds of lines that hardly occur are counted together when there are too many kinds.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from warroom.triage.log_templates import CAUSE_SEPARATOR, MOST_KINDS, OTHER_LINES, LogTemplate, TemplateIndex
from warroom.triage.parsed_line import NO_LOGS, ParsedLine
from warroom.triage.service_names import ServiceNames
from warroom.triage.time_buckets import BIN_SPAN, SampleLine, TimeBucket, quartile_of
from warroom.triage.timestamps import TimeReference, Timestamp, nearest_day

MAX_BUCKETS = 512
"""Stretches of time that are told apart."""
FAR, FEW = 0.5, 0.01
"""Lines are astray if a gap of more than this part of the time parts them from the rest, and they are fewer than this
part of all: a wrong clock must not stretch the log over years."""
MOST_CELLS = 300_000
"""Entries of all slices together: some 60 MB."""
LONGEST_LINE = 400
"""Characters that are kept of a line that may be shown."""
CHECK = 10_000
"""Lines between two looks at how much is kept."""


class LogStats:
    """A log, counted; `clock` is how the file tells time, `start` the time of lines before the first that has one."""

    def __init__(self, clock: TimeReference, names: ServiceNames, start: float = 0.0) -> None:
        self.clock, self.names, self.kinds = clock, names, TemplateIndex()
        self.width = 1
        """Seconds (or lines, in a log without times) of a slice."""
        self.buckets: dict[int, TimeBucket] = {}
        self.lines = 0
        self.first, self.last = float("inf"), float("-inf")
        self.silent: set[str] = set()
        """Services of which a line says that no logs arrive."""
        self.odd_times = 0
        """Times of another clock; their lines count at the time of the line before."""
        self.zones_mixed = False
        """Whether only some of the dates have a zone; the others count as UTC."""
        self.outlying = 0
        """Lines whose time is far from that of all others; they are left out."""
        self._now, self._index, self._bucket = start, 0, TimeBucket()
        self._timestamp: Timestamp | None = None
        self._latest: dict[str, tuple[LogTemplate, int]] = {}

    # -- one line -----------------------------------------------------------------------------------

    def take(self, number: int, line: str, head: ParsedLine) -> None:
        """Count a line."""
        timestamp, service, level, text = head
        service = self.names.known.get(service) or self.names.canonical(service)
        if text == NO_LOGS:
            self.silent.add(service)
            return
        if timestamp is None or timestamp is not self._timestamp:
            self._select_bucket(timestamp, number)
        kind, place = self.kinds.recognise(service, level, text)
        bucket, identity = self._bucket, kind.number
        bucket.counts[identity] = bucket.counts.get(identity, 0) + 1
        kind.lines += 1
        self.lines += 1
        self._latest[service] = kind, self._index
        milliseconds = 0.0
        if place is not None and kind.timed:
            milliseconds, bin = place.duration(text)
            if milliseconds:
                key = identity * BIN_SPAN + bin
                bucket.durations[key] = bucket.durations.get(key, 0) + 1
        if milliseconds or kind.alarming or kind.facts.started:
            longest = bucket.samples.get(identity)
            if longest is None or milliseconds > longest[0]:
                bucket.samples[identity] = SampleLine(milliseconds, number, line[:LONGEST_LINE], self._now)
        if self.lines % CHECK == 0:
            self._compact()

    def _select_bucket(self, timestamp: Timestamp | None, number: int) -> None:
        """Find the slice of a time; a line without one is of that of the line before."""
        if self.clock is TimeReference.ORDER:
            self._now = number
        elif timestamp is not None:
            self._now = self._seconds(timestamp)
        self._timestamp = timestamp
        self.first, self.last = min(self.first, self._now), max(self.last, self._now)
        self._index = int(self._now) // self.width
        found = self.buckets.get(self._index)
        if found is None:
            found = self.buckets[self._index] = TimeBucket()
        self._bucket = found

    def _seconds(self, timestamp: Timestamp) -> float:
        clock, seconds = timestamp
        if clock is TimeReference.TIME and self.clock is TimeReference.TIME and self.lines:
            return nearest_day(seconds, self._now)
        if clock is self.clock:
            return seconds
        if {clock, self.clock} == {TimeReference.LOCAL, TimeReference.ZONED}:
            self.zones_mixed = True
            return seconds
        self.odd_times += 1
        return self._now

    # -- stack traces -------------------------------------------------------------------------------

    def attach_continuation(self, service: str, text: str) -> bool:
        """Count a line of a stack trace to the line before it of the service; its cause becomes part of that line.

        False where the service has written nothing yet.
        """
        latest = self._latest.get(self.names.canonical(service)) if service else None
        if (
            latest is not None
            and CAUSE_SEPARATOR not in latest[0].text
            and OTHER_LINES not in latest[0].text
            and names_error(text)
        ):
            self._join(*latest, text.strip()[:LONGEST_LINE])
        return latest is not None

    def _join(self, kind: LogTemplate, index: int, why: str) -> None:
        bucket = self.buckets.get(index)
        if bucket is None or not bucket.counts.get(kind.number):
            return
        joined = self.kinds.learn(kind.service, kind.facts.level, f"{kind.text}{CAUSE_SEPARATOR}{why}")
        bucket.counts[kind.number] -= 1
        bucket.counts[joined.number] = bucket.counts.get(joined.number, 0) + 1
        kind.lines -= 1
        joined.lines += 1
        if kind.number in bucket.samples:
            bucket.samples.setdefault(joined.number, bucket.samples[kind.number])
        self._latest[kind.service] = joined, index

    # -- room ---------------------------------------------------------------------------------------

    def _compact(self) -> None:
        self.kinds.adapt_masking(CHECK)
        if len(self.kinds.all) > MOST_KINDS:
            moved = self.kinds.merge_rare(lambda kind: self.names.summary_words(kind.service, kind.text))
            for bucket in self.buckets.values():
                bucket.rename(moved)
            self._latest.clear()
        while len(self.buckets) > MAX_BUCKETS or (self.entry_count > MOST_CELLS and len(self.buckets) > 8):
            self._merge_bucket_pairs()
        self._timestamp = None

    @property
    def entry_count(self) -> int:
        """How much all slices hold."""
        return sum(bucket.entry_count for bucket in self.buckets.values())

    def _merge_bucket_pairs(self) -> None:
        """Slices twice as wide."""
        self.width *= 2
        old, self.buckets = self.buckets, {}
        for index in sorted(old):
            self.buckets.setdefault(index // 2, TimeBucket()).add(old[index])
        self._latest = {service: (kind, index // 2) for service, (kind, index) in self._latest.items()}

    def finish(self) -> None:
        """Leave out what is astray, and make at most `MOST_SLICES` slices from first to last, at the end of the log."""
        while self._drop_outliers():
            pass
        while max(self.buckets) - min(self.buckets) >= MAX_BUCKETS:
            self._merge_bucket_pairs()

    def _drop_outliers(self) -> bool:
        """Leave out few lines at either end that are far from the rest in time; whether there were some."""
        places = sorted(self.buckets)
        gap, cut = max(((b - a, i + 1) for i, (a, b) in enumerate(pairwise(places))), default=(0, 0))
        if gap < MAX_BUCKETS or gap <= FAR * (places[-1] - places[0]):
            return False
        sides = sorted((places[:cut], places[cut:]), key=lambda side: sum(self.buckets[place].lines for place in side))
        outlying = sum(self.buckets[place].lines for place in sides[0])
        if outlying > FEW * self.lines:
            return False
        for place in sides[0]:
            del self.buckets[place]
        self.outlying += outlying
        self.first, self.last = sides[1][0] * self.width, (sides[1][-1] + 1) * self.width - 1
        return True

    # -- what was counted -----------------------------------------------------------------------------

    def between(self, start: float, end: float) -> TimeBucket:
        """What was written in the slices that begin in a stretch of time, `end` not included."""
        whole = TimeBucket()
        for index in sorted(self.buckets):
            if start <= index * self.width < end:
                whole.add(self.buckets[index])
        return whole

    def buckets_in_order(self) -> Iterator[TimeBucket]:
        """Every slice of the time that the log covers, the empty ones too."""
        nothing = TimeBucket()
        for index in range(min(self.buckets), max(self.buckets) + 1):
            yield self.buckets.get(index, nothing)


def names_error(text: str) -> bool:
    """Whether a line of a stack trace names the error: frames do not."""
    stripped = text.lstrip()
    head = stripped.partition(":")[0]
    return stripped.startswith("Caused by") or (head.endswith(("Error", "Exception")) and " " not in head)


def alarm_counts(log_stats: LogStats) -> list[int]:
    """Alarming lines by slice, from the first slice to the last."""
    loud = {number for number, kind in log_stats.kinds.all.items() if kind.alarming}
    return [sum(n for number, n in bucket.counts.items() if number in loud) for bucket in log_stats.buckets_in_order()]


def slow_line_counts(log_stats: LogStats) -> list[int]:
    """Lines by slice that state a duration above the third quartile of their kind over the whole log."""
    bins: dict[int, Counter[int]] = {}
    for bucket in log_stats.buckets.values():
        for key, count in bucket.durations.items():
            bins.setdefault(key // BIN_SPAN, Counter())[key % BIN_SPAN] += count
    limits = {number: quartile_of(counts) for number, counts in bins.items()}
    return [
        sum(n for key, n in bucket.durations.items() if key % BIN_SPAN > limits[key // BIN_SPAN])
        for bucket in log_stats.buckets_in_order()
    ]
