"""Counts of lines and of their durations in one span of time, and sample lines."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from math import exp, log
from typing import NamedTuple

BINS = 10
"""Durations are counted in bins of a factor exp(1 / 10): 10 % wide, and a median is interpolated in its bin."""
BIN_SPAN = 1024
"""Keys of durations are the template's number times this, plus the bin."""
_LEAST = -100
"""The bin of 0.05 ms; shorter durations count as that."""


def bin_of(milliseconds: float) -> int:
    """The bin of a duration, from 0."""
    return min(BIN_SPAN - 1, max(0, round(BINS * log(milliseconds)) - _LEAST)) if milliseconds > 0 else 0


def median_of(bins: Counter[int]) -> float:
    """The median of counts in bins, in milliseconds, interpolated in its bin; 0 if there are none."""
    half, below = bins.total() / 2, 0
    for place in sorted(bins):
        if below + bins[place] >= half:
            inside = (half - below) / bins[place] - 0.5
            return float(f"{exp((place + _LEAST + inside) / BINS):.3g}")
        below += bins[place]
    return 0.0


def quartile_of(bins: Counter[int]) -> int:
    """The bin in which three quarters of the counts are reached."""
    reached = 0
    for place in sorted(bins):
        reached += bins[place]
        if reached >= 0.75 * bins.total():
            return place
    return 0


class BinnedDuration(NamedTuple):
    """A duration, and the bin in which it is counted."""

    milliseconds: float
    """0 where a text states none."""
    bin: int


class SampleLine(NamedTuple):
    """A line as it is in the file."""

    milliseconds: float
    """The duration that it states, or 0."""
    number: int
    """From 1, in the file."""
    line: str
    seconds: float
    """The time at which it counts."""


@dataclass(slots=True)
class TimeBucket:
    """What was written in one span of time. Templates are known by their numbers."""

    counts: dict[int, int] = field(default_factory=dict)
    """Lines by template."""
    durations: dict[int, int] = field(default_factory=dict)
    """Lines by template and bin."""
    samples: dict[int, SampleLine] = field(default_factory=dict)
    """The longest or the first line of a template, if it may have to be shown."""

    def add_duration(self, template: int, duration: BinnedDuration) -> float:
        """Count a duration, unless it is 0; its milliseconds."""
        if duration.milliseconds:
            key = template * BIN_SPAN + duration.bin
            self.durations[key] = self.durations.get(key, 0) + 1
        return duration.milliseconds

    def add(self, other: "TimeBucket") -> None:
        """Add what a later bucket holds."""
        for mine, its in ((self.counts, other.counts), (self.durations, other.durations)):
            for key, count in its.items():
                mine[key] = mine.get(key, 0) + count
        for key, sample in other.samples.items():
            if key not in self.samples or self.samples[key].milliseconds < sample.milliseconds:
                self.samples[key] = sample

    def rename(self, moved: dict[int, int]) -> None:
        """Count some templates as others, whose lines are not shown."""
        rest = TimeBucket()
        for old in [number for number in self.counts if number in moved]:
            rest.counts[moved[old]] = rest.counts.get(moved[old], 0) + self.counts.pop(old)
            self.samples.pop(old, None)
        for key in [key for key in self.durations if key // BIN_SPAN in moved]:
            new = moved[key // BIN_SPAN] * BIN_SPAN + key % BIN_SPAN
            rest.durations[new] = rest.durations.get(new, 0) + self.durations.pop(key)
        self.add(rest)

    @property
    def lines(self) -> int:
        """All lines."""
        return sum(self.counts.values())

    @property
    def entry_count(self) -> int:
        """How many entries it holds."""
        return len(self.counts) + len(self.durations) + len(self.samples)

    def median(self, templates: Collection[int]) -> float:
        """The median of the durations of some templates, in milliseconds; 0 where they state none."""
        bins: Counter[int] = Counter()
        for key, count in self.durations.items():
            if key // BIN_SPAN in templates:
                bins[key % BIN_SPAN] += count
        return median_of(bins)
