"""Where "before" ends and "now" begins in a log: two windows of equal length, whose counts compare as they stand."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import ceil, log
from typing import NamedTuple

from warroom.importers.logs.tally import Tally, alarms, slow_lines
from warroom.importers.logs.times import Clock, read_split, say

SHORT = 20
"""Lines below which a log is taken as a paste of the trouble alone."""
LEAST = 1 / 16
"""Part of the whole time that a window covers at least: shorter ones hold too few lines to tell a median."""
CHANCE = 3.0
"""Nats that the best moment must earn beyond the logarithm of the moments tried: chance does so in a log of twenty."""
DOUBT = 3.0
"""Nats below the best moment that another may be and still be the true one; the earliest of these is taken."""
SPANS = 0.05
"""Share of ERROR lines from which a log without a rise is all trouble: recordings of a system of 46 services have 0.5
to 1.1 % ERROR lines in a fault-free minute, and at most 3.1 % in a faulty one."""


class Split(NamedTuple):
    """Two stretches of time, `end` not included, and how they were chosen."""

    before: tuple[float, float] | None
    """None where there is nothing to compare with."""
    now: tuple[float, float]
    how: str
    """For the person who reads the result."""


def split(tally: Tally, at: str | None = None) -> Split:
    """Choose the windows: at the moment that a person names, else where trouble rises most, else in the middle.

    Every moment and several lengths are tried. n lines in a time N before the moment and m lines in a time M from it on
    earn the log-likelihood of two Poisson rates over that of one,
    m ln(m / M) + n ln(n / N) - (m + n) ln((m + n) / (M + N)), divided by how much more than Poisson the counts of
    neighbouring slices differ. The best moment is taken if it earns more than chance would in so many tries. What is
    counted is lines at WARN, ERROR or about a failure; if those do not rise, lines that state a duration in the slowest
    quarter of their kind.
    """
    if at is not None:
        return _named(tally, read_split(at, tally.clock, tally.first, tally.last))
    if tally.clock is Clock.ORDER:
        return _whole(tally, "the lines have no times")
    if tally.lines < SHORT:
        return _whole(tally, f"there are fewer than {SHORT} lines")
    for counts, what in ((alarms(tally), "WARN, ERROR and failure lines rise"), (slow_lines(tally), "slow lines rise")):
        rise = best_rise(counts)
        if rise is not None:
            start = (min(tally.slices) + rise.start) * tally.width
            return _around(tally, start, rise.length * tally.width, f"at {_say(tally, start)}, where {what} most")
    return _steady(tally)


def _whole(tally: Tally, why: str) -> Split:
    return Split(None, (tally.first, tally.last + tally.width), f"none: {why}, so there is nothing to compare with")


def _named(tally: Tally, seconds: float) -> Split:
    start = seconds // tally.width * tally.width
    length = min(start - _start(tally), _end(tally) - start)
    if length <= 0:
        raise ValueError(
            f"cannot split at {_say(tally, seconds)}: no line is earlier; times are kept to {tally.width} s here"
        )
    return _around(tally, start, length, f"at {_say(tally, start)}, as you said")


def _around(tally: Tally, start: float, length: float, how: str) -> Split:
    times = [_say(tally, seconds) for seconds in (start - length, start, start + length)]
    how = f"{how}: before is {times[0]} to {times[1]}, now is {times[1]} to {times[2]}"
    return Split((start - length, start), (start, start + length), how)


def _steady(tally: Tally) -> Split:
    errors = sum(kind.lines for kind in tally.kinds.all.values() if kind.facts.level == "ERROR")
    if errors > SPANS * tally.lines:
        share = f"{100 * errors / tally.lines:.0f}% of the lines are errors from first to last"
        return _whole(tally, f"trouble does not rise anywhere, and {share}")
    length = (_end(tally) - _start(tally)) // (2 * tally.width) * tally.width
    if not length:
        return _whole(tally, f"all lines are of the same {tally.width} s")
    middle = _end(tally) - length
    return _around(tally, middle, length, f"in the middle, at {_say(tally, middle)}: trouble does not rise anywhere")


def _start(tally: Tally) -> float:
    return min(tally.slices) * tally.width


def _end(tally: Tally) -> float:
    return (max(tally.slices) + 1) * tally.width


def _say(tally: Tally, seconds: float) -> str:
    return say(tally.clock, seconds)


# -- the moment of change ---------------------------------------------------------------------------------


class Rise(NamedTuple):
    """A moment from which on more lines are counted than before."""

    start: int
    """The first slice of now, from 0."""
    length: int
    """Slices of each window."""
    nats: float


def best_rise(counts: Sequence[int]) -> Rise | None:
    """The moment at which the counts of equal slices rise most; None if chance would do as much."""
    sums = [0, *accumulate(counts)]
    tries = list(_tries(len(counts)))
    if not tries or not sums[-1]:
        return None
    scatter = _scatter(counts)
    rises = [Rise(t, min(n, t), likelihood(sums[t], t, sums[t + n] - sums[t], n) / scatter) for t, n in tries]
    best = max(rise.nats for rise in rises)
    if best < CHANCE + log(len(tries)):
        return None
    # A moment too late puts the first signs, which tell most, into "before"; a moment too early costs a few lines.
    return min((rise for rise in rises if rise.nats >= best - DOUBT), key=lambda rise: (rise.start, -rise.length))


def _tries(slices: int) -> Iterator[tuple[int, int]]:
    """(first slice of now, its slices): every moment, with lengths that double, and all that is left."""
    least = max(1, ceil(LEAST * slices))
    for start in range(least, slices - least + 1):
        length = least
        while length < slices - start:
            yield start, length
            length *= 2
        yield start, slices - start


def _scatter(counts: Sequence[int]) -> float:
    """Variance over mean, by the differences of neighbours, which a single rise hardly changes; 1 at least."""
    squares = sum((later - earlier) ** 2 for earlier, later in pairwise(counts))
    return max(1.0, squares / (2 * sum(counts)))


def likelihood(before: int, length_before: int, now: int, length_now: int) -> float:
    """Nats by which two rates explain two counts better than one rate does; 0 where the rate does not rise."""
    if now * length_before <= before * length_now:
        return 0.0
    rate = (before + now) / (length_before + length_now)
    earned = now * log(now / length_now / rate)
    return earned + (before * log(before / length_before / rate) if before else 0.0)
