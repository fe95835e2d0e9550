"""Where "before" ends and "now" begins in a log: two windows of equal length, so that their counts compare directly."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import ceil, log
from typing import NamedTuple

from warroom.triage.log_stats import LogStats, alarm_counts, slow_line_counts
from warroom.triage.timestamps import TimeReference, format_time, read_split

MIN_LINES = 20
"""Lines below which a log is taken as an excerpt of the incident alone."""
MIN_WINDOW_SHARE = 1 / 16
"""Part of the whole time that a window covers at least: shorter ones hold too few lines for a median."""
NOISE_THRESHOLD = 3.0
"""Log odds that the best moment needs beyond the logarithm of the moments tried: chance reaches it in 1 log of 20."""
TIE_MARGIN = 3.0
"""Log odds by which a moment may be below the best and still be the true one; the earliest such moment is taken."""
PERSISTENT_ERROR_SHARE = 0.05
"""Share of ERROR lines from which a log without a rise is an incident throughout: recordings of a system of 46 services
have 0.5 to 1.1 % ERROR lines in a fault-free minute, and at most 3.1 % in a faulty one."""


class TimeSpan(NamedTuple):
    """A span of time in the seconds of the log's clock."""

    start: float
    end: float
    """Not included."""


class WindowSplit(NamedTuple):
    """The two windows that are compared, and how they were chosen."""

    before: TimeSpan | None
    """None where there is nothing to compare with."""
    now: TimeSpan
    how: str
    """For the person who reads the result."""


def split(log_stats: LogStats, at: str | None = None) -> WindowSplit:
    """Choose the windows: at the moment that a person names, else where alarms rise most, else in the middle.

    Every moment and several lengths are tried. For n lines in a time N before the moment and m lines in a time M from
    it on, the score is the log-likelihood of two Poisson rates over that of one,
    m ln(m / M) + n ln(n / N) - (m + n) ln((m + n) / (M + N)), divided by how much more than Poisson the counts of
    neighbouring buckets differ. The best moment is taken if it scores more than chance would in so many tries. What is
    counted is lines at WARN, ERROR or about a failure; if those do not rise, lines that state a duration in the slowest
    quarter of their template.
    """
    if at is not None:
        return _named(log_stats, read_split(at, log_stats.clock, log_stats.first, log_stats.last))
    if log_stats.clock is TimeReference.ORDER:
        return _whole(log_stats, "the lines have no times")
    if log_stats.lines < MIN_LINES:
        return _whole(log_stats, f"there are fewer than {MIN_LINES} lines")
    for counts, what in (
        (alarm_counts(log_stats), "WARN, ERROR and failure lines rise"),
        (slow_line_counts(log_stats), "slow lines rise"),
    ):
        rise = find_rate_increase(counts)
        if rise is not None:
            start = (min(log_stats.buckets) + rise.start) * log_stats.width
            return _around(
                log_stats, start, rise.length * log_stats.width, f"at {_format(log_stats, start)}, where {what} most"
            )
    return _steady(log_stats)


def _whole(log_stats: LogStats, why: str) -> WindowSplit:
    whole = TimeSpan(log_stats.first, log_stats.last + log_stats.width)
    return WindowSplit(None, whole, f"none: {why}, so there is nothing to compare with")


def _named(log_stats: LogStats, seconds: float) -> WindowSplit:
    start = seconds // log_stats.width * log_stats.width
    length = min(start - _start(log_stats), _end(log_stats) - start)
    if length <= 0:
        raise ValueError(
            f"cannot split at {_format(log_stats, seconds)}: no line is earlier; "
            f"times are kept to {log_stats.width} s here"
        )
    return _around(log_stats, start, length, f"at {_format(log_stats, start)}, as you said")


def _around(log_stats: LogStats, start: float, length: float, how: str) -> WindowSplit:
    times = [_format(log_stats, seconds) for seconds in (start - length, start, start + length)]
    how = f"{how}: before is {times[0]} to {times[1]}, now is {times[1]} to {times[2]}"
    return WindowSplit(TimeSpan(start - length, start), TimeSpan(start, start + length), how)


def _steady(log_stats: LogStats) -> WindowSplit:
    errors = sum(template.lines for template in log_stats.templates.all.values() if template.facts.level == "ERROR")
    if errors > PERSISTENT_ERROR_SHARE * log_stats.lines:
        share = f"{100 * errors / log_stats.lines:.0f}% of the lines are errors from first to last"
        return _whole(log_stats, f"trouble does not rise anywhere, and {share}")
    length = (_end(log_stats) - _start(log_stats)) // (2 * log_stats.width) * log_stats.width
    if not length:
        return _whole(log_stats, f"all lines are of the same {log_stats.width} s")
    middle = _end(log_stats) - length
    return _around(
        log_stats, middle, length, f"in the middle, at {_format(log_stats, middle)}: trouble does not rise anywhere"
    )


def _start(log_stats: LogStats) -> float:
    return min(log_stats.buckets) * log_stats.width


def _end(log_stats: LogStats) -> float:
    return (max(log_stats.buckets) + 1) * log_stats.width


def _format(log_stats: LogStats, seconds: float) -> str:
    return format_time(log_stats.clock, seconds)


# -- the moment of change ---------------------------------------------------------------------------------


class RateIncrease(NamedTuple):
    """A moment from which on more lines are counted than before."""

    start: int
    """The first bucket of now, from 0."""
    length: int
    """Buckets of each window."""
    log_odds: float


def find_rate_increase(counts: Sequence[int]) -> RateIncrease | None:
    """The moment at which the counts of equal buckets rise most; None if chance explains the rise."""
    sums = [0, *accumulate(counts)]
    tries = list(_tries(len(counts)))
    if not tries or not sums[-1]:
        return None
    scatter = _scatter(counts)
    increases = [
        RateIncrease(t, min(n, t), log_likelihood_ratio(sums[t], t, sums[t + n] - sums[t], n) / scatter)
        for t, n in tries
    ]
    best = max(rise.log_odds for rise in increases)
    if best < NOISE_THRESHOLD + log(len(tries)):
        return None
    # A moment too late puts the first signs, which matter most, into "before"; a moment too early costs a few lines.
    return min(
        (rise for rise in increases if rise.log_odds >= best - TIE_MARGIN), key=lambda rise: (rise.start, -rise.length)
    )


def _tries(buckets: int) -> Iterator[tuple[int, int]]:
    """(first bucket of now, number of its buckets): every moment, with lengths that double, and all that is left."""
    least = max(1, ceil(MIN_WINDOW_SHARE * buckets))
    for start in range(least, buckets - least + 1):
        length = least
        while length < buckets - start:
            yield start, length
            length *= 2
        yield start, buckets - start


def _scatter(counts: Sequence[int]) -> float:
    """Variance over mean, from the differences of neighbours, which a single rise hardly changes; 1 at least."""
    squares = sum((later - earlier) ** 2 for earlier, later in pairwise(counts))
    return max(1.0, squares / (2 * sum(counts)))


def log_likelihood_ratio(before: int, length_before: int, now: int, length_now: int) -> float:
    """Log odds of two rates for two counts over one rate for both; 0 where the rate does not rise."""
    if now * length_before <= before * length_now:
        return 0.0
    rate = (before + now) / (length_before + length_now)
    gain = now * log(now / length_now / rate)
    return gain + (before * log(before / length_before / rate) if before else 0.0)
