"""What is kept of a log while it streams by: counts of each kind of line by time, and a few lines as they stand.

Memory is bounded whatever the length of the log: time is cut into slices that double when there are too many of them,
and kinds of lines that hardly occur are counted together when there are too many kinds.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from warroom.importers.logs.counts import BIN_SPAN, Sample, Slice, quartile_of
from warroom.importers.logs.head import NO_LOGS, Head
from warroom.importers.logs.kinds import CAUSED, MOST_KINDS, OTHER, Kind, Kinds
from warroom.importers.logs.names import Names
from warroom.importers.logs.times import Clock, Moment, nearest

MOST_SLICES = 512
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


class Tally:
    """A log, counted; `clock` is how the file tells time, `start` the time of lines before the first that has one."""

    def __init__(self, clock: Clock, names: Names, start: float = 0.0) -> None:
        self.clock, self.names, self.kinds = clock, names, Kinds()
        self.width = 1
        """Seconds (or lines, in a log without times) of a slice."""
        self.slices: dict[int, Slice] = {}
        self.lines = 0
        self.first, self.last = float("inf"), float("-inf")
        self.silent: set[str] = set()
        """Services of which a line says that no logs arrive."""
        self.odd_times = 0
        """Times of another clock; their lines count at the time of the line before."""
        self.zones_mixed = False
        """Whether only some of the dates have a zone; the others count as UTC."""
        self.astray = 0
        """Lines whose time is far from that of all others; they are left out."""
        self._now, self._index, self._slice = start, 0, Slice()
        self._moment: Moment | None = None
        self._latest: dict[str, tuple[Kind, int]] = {}

    # -- one line -----------------------------------------------------------------------------------

    def take(self, number: int, line: str, head: Head) -> None:
        """Count a line."""
        moment, service, level, text = head
        service = self.names.known.get(service) or self.names.canonical(service)
        if text == NO_LOGS:
            self.silent.add(service)
            return
        if moment is None or moment is not self._moment:
            self._turn_to(moment, number)
        kind, place = self.kinds.recognise(service, level, text)
        slice, identity = self._slice, kind.number
        slice.counts[identity] = slice.counts.get(identity, 0) + 1
        kind.lines += 1
        self.lines += 1
        self._latest[service] = kind, self._index
        milliseconds = 0.0
        if place is not None and kind.timed:
            milliseconds, bin = place.duration(text)
            if milliseconds:
                key = identity * BIN_SPAN + bin
                slice.durations[key] = slice.durations.get(key, 0) + 1
        if milliseconds or kind.alarming or kind.facts.started:
            longest = slice.samples.get(identity)
            if longest is None or milliseconds > longest[0]:
                slice.samples[identity] = Sample(milliseconds, number, line[:LONGEST_LINE], self._now)
        if self.lines % CHECK == 0:
            self._make_room()

    def _turn_to(self, moment: Moment | None, number: int) -> None:
        """Find the slice of a time; a line without one is of that of the line before."""
        if self.clock is Clock.ORDER:
            self._now = number
        elif moment is not None:
            self._now = self._seconds(moment)
        self._moment = moment
        self.first, self.last = min(self.first, self._now), max(self.last, self._now)
        self._index = int(self._now) // self.width
        found = self.slices.get(self._index)
        if found is None:
            found = self.slices[self._index] = Slice()
        self._slice = found

    def _seconds(self, moment: Moment) -> float:
        clock, seconds = moment
        if clock is Clock.TIME and self.clock is Clock.TIME and self.lines:
            return nearest(seconds, self._now)
        if clock is self.clock:
            return seconds
        if {clock, self.clock} == {Clock.LOCAL, Clock.ZONED}:
            self.zones_mixed = True
            return seconds
        self.odd_times += 1
        return self._now

    # -- stack traces -------------------------------------------------------------------------------

    def attach(self, service: str, text: str) -> bool:
        """Count a line of a stack trace to the line before it of the service; its cause becomes part of that line.

        False where the service has written nothing yet.
        """
        latest = self._latest.get(self.names.canonical(service)) if service else None
        if latest is not None and CAUSED not in latest[0].text and OTHER not in latest[0].text and says_why(text):
            self._join(*latest, text.strip()[:LONGEST_LINE])
        return latest is not None

    def _join(self, kind: Kind, index: int, why: str) -> None:
        slice = self.slices.get(index)
        if slice is None or not slice.counts.get(kind.number):
            return
        joined = self.kinds.learn(kind.service, kind.facts.level, f"{kind.text}{CAUSED}{why}")
        slice.counts[kind.number] -= 1
        slice.counts[joined.number] = slice.counts.get(joined.number, 0) + 1
        kind.lines -= 1
        joined.lines += 1
        if kind.number in slice.samples:
            slice.samples.setdefault(joined.number, slice.samples[kind.number])
        self._latest[kind.service] = joined, index

    # -- room ---------------------------------------------------------------------------------------

    def _make_room(self) -> None:
        self.kinds.look_again(CHECK)
        if len(self.kinds.all) > MOST_KINDS:
            moved = self.kinds.merge_rare(lambda kind: self.names.gist(kind.service, kind.text))
            for slice in self.slices.values():
                slice.rename(moved)
            self._latest.clear()
        while len(self.slices) > MOST_SLICES or (self.cells > MOST_CELLS and len(self.slices) > 8):
            self._double()
        self._moment = None

    @property
    def cells(self) -> int:
        """How much all slices hold."""
        return sum(slice.cells for slice in self.slices.values())

    def _double(self) -> None:
        """Slices twice as wide."""
        self.width *= 2
        old, self.slices = self.slices, {}
        for index in sorted(old):
            self.slices.setdefault(index // 2, Slice()).add(old[index])
        self._latest = {service: (kind, index // 2) for service, (kind, index) in self._latest.items()}

    def finish(self) -> None:
        """Leave out what is astray, and make at most `MOST_SLICES` slices from first to last, at the end of the log."""
        while self._drop_astray():
            pass
        while max(self.slices) - min(self.slices) >= MOST_SLICES:
            self._double()

    def _drop_astray(self) -> bool:
        """Leave out few lines at either end that are far from the rest in time; whether there were some."""
        places = sorted(self.slices)
        gap, cut = max(((b - a, i + 1) for i, (a, b) in enumerate(pairwise(places))), default=(0, 0))
        if gap < MOST_SLICES or gap <= FAR * (places[-1] - places[0]):
            return False
        sides = sorted((places[:cut], places[cut:]), key=lambda side: sum(self.slices[place].lines for place in side))
        astray = sum(self.slices[place].lines for place in sides[0])
        if astray > FEW * self.lines:
            return False
        for place in sides[0]:
            del self.slices[place]
        self.astray += astray
        self.first, self.last = sides[1][0] * self.width, (sides[1][-1] + 1) * self.width - 1
        return True

    # -- what was counted -----------------------------------------------------------------------------

    def between(self, start: float, end: float) -> Slice:
        """What was written in the slices that begin in a stretch of time, `end` not included."""
        whole = Slice()
        for index in sorted(self.slices):
            if start <= index * self.width < end:
                whole.add(self.slices[index])
        return whole

    def in_order(self) -> Iterator[Slice]:
        """Every slice of the time that the log covers, the empty ones too."""
        nothing = Slice()
        for index in range(min(self.slices), max(self.slices) + 1):
            yield self.slices.get(index, nothing)


def says_why(text: str) -> bool:
    """Whether a line of a stack trace names the error: frames do not."""
    stripped = text.lstrip()
    head = stripped.partition(":")[0]
    return stripped.startswith("Caused by") or (head.endswith(("Error", "Exception")) and " " not in head)


def alarms(tally: Tally) -> list[int]:
    """Alarming lines by slice, from the first slice to the last."""
    loud = {number for number, kind in tally.kinds.all.items() if kind.alarming}
    return [sum(n for number, n in slice.counts.items() if number in loud) for slice in tally.in_order()]


def slow_lines(tally: Tally) -> list[int]:
    """Lines by slice that state a duration above the third quartile of their kind over the whole log."""
    bins: dict[int, Counter[int]] = {}
    for slice in tally.slices.values():
        for key, count in slice.durations.items():
            bins.setdefault(key // BIN_SPAN, Counter())[key % BIN_SPAN] += count
    limits = {number: quartile_of(counts) for number, counts in bins.items()}
    return [
        sum(n for key, n in slice.durations.items() if key % BIN_SPAN > limits[key // BIN_SPAN])
        for slice in tally.in_order()
    ]
