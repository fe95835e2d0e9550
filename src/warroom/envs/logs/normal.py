"""One byte to one normal draw, and counts that scatter as counts do."""

from math import exp, sqrt
from statistics import NormalDist

QUANTILES = tuple([NormalDist().inv_cdf((byte + 0.5) / 256) for byte in range(256)])
"""The normal quantile of each byte: mean 0, standard deviation 1, at most 2.9 away."""


def count(mean: float, byte: int) -> int:
    """A count around `mean` with the spread of a Poisson variable (its normal approximation, cut at 0)."""
    drawn = mean + sqrt(mean) * QUANTILES[byte] + 0.5
    return int(drawn) if drawn > 0 else 0


def median(true: float, spread: float, size: float, byte: int) -> float:
    """The median of `size` durations that scatter log-normally by `spread` around `true`, one decimal.

    The standard error of a median is 1.25 times that of a mean.
    """
    return round(true * exp(1.25 * spread / sqrt(size if size > 3 else 3) * QUANTILES[byte]), 1)
