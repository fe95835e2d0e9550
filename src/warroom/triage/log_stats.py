"""Statistics of a log that is read as a stream: counts of each template by time, and a few sample lines.

Memory is bounded whatever the length of the log: time is divided into buckets that double when there are too many of
them, and rare templates are counted together when there are too many templates.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from warroom.triage.log_templates import CAUSE_SEPARATOR, MAX_TEMPLATES, OTHER_LINES, LogTemplate, TemplateIndex
from warroom.triage.parsed_line import NO_LOGS, ParsedLine
from warroom.triage.service_names import ServiceNames
from warroom.triage.time_buckets import BIN_SPAN, SampleLine, TimeBucket, quartile_of
from warroom.triage.timestamps import TimeReference, Timestamp, nearest_day

MAX_BUCKETS = 512
"""Buckets of time."""
OUTLIER_GAP_SHARE, OUTLIER_LINE_SHARE = 0.5, 0.01
"""Lines are outliers if a gap of more than this part of the time separates them from the rest, and they are fewer than
this part of all: a wrong clock must not stretch the log over years."""
MAX_ENTRIES = 300_000
"""Entries of all buckets together: some 60 MB."""
MAX_SAMPLE_LENGTH = 400
"""Characters that are kept of a sample line."""
COMPACTION_INTERVAL = 10_000
"""Lines after which memory is compacted, if need be."""


class LogStats:
    """A log, counted; `clock` is how the file states times, `start` the time of lines before the first that has one."""

    def __init__(self, clock: TimeReference, names: ServiceNames, start: float = 0.0) -> None:
        self.clock, self.names, self.templates = clock, names, TemplateIndex()
        self.width = 1
        """Seconds (or lines, in a log without times) of a bucket."""
        self.buckets: dict[int, TimeBucket] = {}
        self.lines = 0
        self.first, self.last = float("inf"), float("-inf")
        self.silent: set[str] = set()
        """Services of which a line says that no logs arrive."""
        self.odd_times = 0
        """How many times were of another clock; their lines count at the time of the line before."""
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
        template, place = self.templates.match(service, level, text)
        bucket, key = self._bucket, template.number
        bucket.counts[key] = bucket.counts.get(key, 0) + 1
        template.lines += 1
        self.lines += 1
        self._latest[service] = template, self._index
        milliseconds = bucket.add_duration(key, place.duration(text)) if place is not None and template.timed else 0.0
        if milliseconds or template.alarming or template.facts.started:
            longest = bucket.samples.get(key)
            if longest is None or milliseconds > longest.milliseconds:
                bucket.samples[key] = SampleLine(milliseconds, number, line[:MAX_SAMPLE_LENGTH], self._now)
        if self.lines % COMPACTION_INTERVAL == 0:
            self._compact()

    def _select_bucket(self, timestamp: Timestamp | None, number: int) -> None:
        """Find the bucket of a time; a line without one belongs to that of the line before."""
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
        """Attach a line of a stack trace to the line before it of the service; its cause becomes part of that line.

        False where the service has written nothing yet.
        """
        latest = self._latest.get(self.names.canonical(service)) if service else None
        if (
            latest is not None
            and CAUSE_SEPARATOR not in latest[0].text
            and OTHER_LINES not in latest[0].text
            and names_error(text)
        ):
            self._join(*latest, text.strip()[:MAX_SAMPLE_LENGTH])
        return latest is not None

    def _join(self, template: LogTemplate, index: int, cause: str) -> None:
        bucket = self.buckets.get(index)
        if bucket is None or not bucket.counts.get(template.number):
            return
        joined = self.templates.add(template.service, template.facts.level, f"{template.text}{CAUSE_SEPARATOR}{cause}")
        bucket.counts[template.number] -= 1
        bucket.counts[joined.number] = bucket.counts.get(joined.number, 0) + 1
        template.lines -= 1
        joined.lines += 1
        if template.number in bucket.samples:
            bucket.samples.setdefault(joined.number, bucket.samples[template.number])
        self._latest[template.service] = joined, index

    # -- memory -------------------------------------------------------------------------------------

    def _compact(self) -> None:
        self.templates.adapt_masking(COMPACTION_INTERVAL)
        if len(self.templates.all) > MAX_TEMPLATES:
            moved = self.templates.merge_rare(
                lambda template: self.names.summary_words(template.service, template.text)
            )
            for bucket in self.buckets.values():
                bucket.rename(moved)
            self._latest.clear()
        while len(self.buckets) > MAX_BUCKETS or (self.entry_count > MAX_ENTRIES and len(self.buckets) > 8):
            self._merge_bucket_pairs()
        self._timestamp = None

    @property
    def entry_count(self) -> int:
        """How many entries all buckets hold."""
        return sum(bucket.entry_count for bucket in self.buckets.values())

    def _merge_bucket_pairs(self) -> None:
        """Make the buckets twice as wide."""
        self.width *= 2
        old, self.buckets = self.buckets, {}
        for index in sorted(old):
            self.buckets.setdefault(index // 2, TimeBucket()).add(old[index])
        self._latest = {service: (template, index // 2) for service, (template, index) in self._latest.items()}

    def finish(self) -> None:
        """Leave out outliers, and make at most `MAX_BUCKETS` buckets from first to last, at the end of the log."""
        while self._drop_outliers():
            pass
        while max(self.buckets) - min(self.buckets) >= MAX_BUCKETS:
            self._merge_bucket_pairs()

    def _drop_outliers(self) -> bool:
        """Leave out few lines at either end that are far from the rest in time; whether there were some."""
        places = sorted(self.buckets)
        gap, cut = max(((b - a, i + 1) for i, (a, b) in enumerate(pairwise(places))), default=(0, 0))
        if gap < MAX_BUCKETS or gap <= OUTLIER_GAP_SHARE * (places[-1] - places[0]):
            return False
        sides = sorted((places[:cut], places[cut:]), key=lambda side: sum(self.buckets[place].lines for place in side))
        outlying = sum(self.buckets[place].lines for place in sides[0])
        if outlying > OUTLIER_LINE_SHARE * self.lines:
            return False
        for place in sides[0]:
            del self.buckets[place]
        self.outlying += outlying
        self.first, self.last = sides[1][0] * self.width, (sides[1][-1] + 1) * self.width - 1
        return True

    # -- results -------------------------------------------------------------------------------------

    def between(self, start: float, end: float) -> TimeBucket:
        """What was written in the buckets that begin in a span of time, `end` not included."""
        whole = TimeBucket()
        for index in sorted(self.buckets):
            if start <= index * self.width < end:
                whole.add(self.buckets[index])
        return whole

    def buckets_in_order(self) -> Iterator[TimeBucket]:
        """Every bucket of the time that the log covers, the empty ones too."""
        empty = TimeBucket()
        for index in range(min(self.buckets), max(self.buckets) + 1):
            yield self.buckets.get(index, empty)


def names_error(text: str) -> bool:
    """Whether a line of a stack trace names the error: frames do not."""
    stripped = text.lstrip()
    head = stripped.partition(":")[0]
    return stripped.startswith("Caused by") or (head.endswith(("Error", "Exception")) and " " not in head)


def alarm_counts(log_stats: LogStats) -> list[int]:
    """Alarming lines by bucket, from the first bucket to the last."""
    alarming = {number for number, template in log_stats.templates.all.items() if template.alarming}
    return [
        sum(n for number, n in bucket.counts.items() if number in alarming) for bucket in log_stats.buckets_in_order()
    ]


def slow_line_counts(log_stats: LogStats) -> list[int]:
    """Lines by bucket that state a duration above the third quartile of their template over the whole log."""
    bins: dict[int, Counter[int]] = {}
    for bucket in log_stats.buckets.values():
        for key, count in bucket.durations.items():
            bins.setdefault(key // BIN_SPAN, Counter())[key % BIN_SPAN] += count
    limits = {number: quartile_of(counts) for number, counts in bins.items()}
    return [
        sum(n for key, n in bucket.durations.items() if key % BIN_SPAN > limits[key // BIN_SPAN])
        for bucket in log_stats.buckets_in_order()
    ]
