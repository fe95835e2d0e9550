"""What a pair of figures says: by how many nats trouble explains it better than calm does.

Counts are Poisson, a median of n durations has the standard error of a median, and healthy medians wander besides. No
single figure may decide alone, since the model of calm is never exact: every sign is held to a range.
"""

from collections.abc import Sequence
from math import log, sqrt
from typing import NamedTuple

from warroom.envs.logs.views import Pair

EVIDENCE_PRICE = 1.5
"""Nats that a sign must earn before it speaks for trouble: chance alone earns more in one look of two dozen."""
MOST = 14.0
"""Nats that one figure can earn."""
SCATTER = 0.55
"""Standard deviation of the logarithm of single durations, the middle of what services show."""
MEDIAN_ERROR = 1.2533
"""Standard error of a median in units of that of a mean, for many draws: the root of pi / 2."""
HICCUPS, HICCUPS_OF = 0.5, 150.0
"""What is known of calm before any count: half a failure in so many requests."""


class FailureEvidence(NamedTuple):
    """Whether more requests fail now than before."""

    weight: float
    """Nats for trouble, within -`PRICE` to `MOST`."""
    share: float
    """Share of the requests that fail beyond the usual, 0 to 1."""


class LatencyEvidence(NamedTuple):
    """By how much durations grew, and how exactly that is known."""

    change: float
    """Logarithm of the factor on the median."""
    variance: float
    """Of `change`, sampling and wandering together."""
    base: float
    """Milliseconds before."""

    @property
    def errors(self) -> float:
        """The change in standard errors."""
        return self.change / sqrt(self.variance)


def clamp_weight(log_odds: float) -> float:
    """A sign's weight: less the price, within the range of a single figure."""
    return min(MOST, max(-EVIDENCE_PRICE, log_odds - EVIDENCE_PRICE))


def failure_evidence(failed: Sequence[Pair], counts: Sequence[Pair]) -> FailureEvidence | None:
    """The sign of all these failures together; None if there was nothing to fail."""
    was, now = sum(pair.before for pair in failed), sum(pair.now for pair in failed)
    of_was, of_now = sum(pair.before for pair in counts), sum(pair.now for pair in counts)
    if of_now < 1:
        return None
    usual = (was + HICCUPS) / (of_was + HICCUPS_OF)
    if now <= usual * of_now:
        return FailureEvidence(-EVIDENCE_PRICE, 0.0)
    return FailureEvidence(
        clamp_weight(_two_rates((was + HICCUPS, of_was + HICCUPS_OF), (now, of_now))), min(1.0, now / of_now) - usual
    )


def _two_rates(*counted: tuple[float, float]) -> float:
    """Log-likelihood of a rate for each (count, exposure) over that of one rate for all."""
    rate = sum(count for count, _ in counted) / sum(exposure for _, exposure in counted)
    return sum(count * log(count / (rate * exposure)) for count, exposure in counted if count > 0)


def excess_log_odds(count: float, expected: float) -> float:
    """Nats by which a count speaks for more than what is expected; 0 if it is no more."""
    return count * log(count / expected) - (count - expected) if count > expected > 0 else 0.0


def latency_evidence(medians: Sequence[Pair], counts: Sequence[Pair], latency_jitter: float) -> LatencyEvidence | None:
    """What several looks at the durations of one service say together; None if none can tell.

    `wander` is the standard deviation of the logarithm by which its healthy median differs between windows: the same in
    all looks, since it is the service that wanders.
    """
    looks = [
        (log(median.now / median.before), _sampling(count), median.before)
        for median, count in zip(medians, counts, strict=True)
        if min(median) > 0 and min(count) >= 1
    ]
    if not looks:
        return None
    precision = sum(1 / variance for _, variance, _ in looks)
    change = sum(change / variance for change, variance, _ in looks) / precision
    base = sum(base / variance for _, variance, base in looks) / precision
    return LatencyEvidence(change, 1 / precision + latency_jitter**2, base)


def _sampling(count: Pair) -> float:
    return (MEDIAN_ERROR * SCATTER) ** 2 * (1 / count.before + 1 / count.now)


def busier(count: Pair, of: Pair) -> float:
    """Logarithm of the factor by which `count` grew more than `of`; 0 where either says nothing."""
    if min(*count, *of) < 1:
        return 0.0
    return log(count.now / count.before) - log(of.now / of.before)
