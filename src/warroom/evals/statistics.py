"""Means, shares and differences with their uncertainty, when several episodes share one incident.

Episodes of one incident are not independent, so every interval here is clustered by incident: adding attempts at the
same incidents narrows it less than adding incidents. Nothing here draws from a global generator.
"""

from collections.abc import Callable, Sequence
from math import comb, inf, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

from warroom.core.errors import MissingExtra
from warroom.core.rng import stream

try:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.special import stdtrit
except ImportError as error:
    raise MissingExtra("plots", error) from error

LEVEL = 0.95
"""Coverage of every interval."""
PERMUTATIONS = 9_999
"""Random sign patterns of the permutation test; p cannot fall below 1 / (FLIPS + 1)."""
BOOTSTRAP_DRAWS = 1_000
"""Resamples of a bootstrap."""
_Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
_BLOCK = 1 << 22
"""Signs that are held in memory at a time."""

Floats = NDArray[np.float64]


class Estimate(NamedTuple):
    """A mean with its interval; the ends are None where one incident alone says nothing about the spread."""

    mean: float
    lo: float | None
    hi: float | None


class Difference(NamedTuple):
    """A paired difference: mean over incidents, interval, and the p of no difference."""

    mean: float
    lo: float | None
    hi: float | None
    p: float
    incidents: int


def mean(values: Sequence[float], clusters: Sequence[Any], bounds: tuple[float, float] = (-inf, inf)) -> Estimate:
    """Mean of `values` with a t interval from cluster-robust errors, cut off at the `bounds` that no value can pass.

    Variance: G / (G - 1) * sum over clusters of (sum of residuals)^2 / n^2, with G - 1 degrees of freedom
    (Liang and Zeger 1986; for evaluations Miller 2024, "Adding Error Bars to Evals", section 2.2).
    """
    data = _numbers(values)
    center, variance, groups = _clustered(data, clusters)
    if groups < 2:
        return Estimate(center, None, None)
    half = _t(groups - 1) * sqrt(variance)
    return Estimate(center, max(bounds[0], center - half), min(bounds[1], center + half))


def share(values: Sequence[bool], clusters: Sequence[Any]) -> Estimate:
    """Share of true values with a Wilson interval at the effective sample size.

    Effective size: n over the design effect (clustered variance over p (1 - p) / (n - 1)), times the squared ratio of
    the t quantiles at n - 1 and G - 1 degrees of freedom, at most n (Korn and Graubard 1998); where all values agree
    it is the number of incidents G, as if a whole incident were one observation. Wilson's ends (1927) lie within
    [0, 1] and are honest at 0 and 1, where the plain interval has no width.
    """
    data = _numbers(values)
    center, variance, groups = _clustered(data, clusters)
    count = len(data)
    if not 0 < center < 1 or not variance:
        return wilson(center, groups)
    effect = variance / (center * (1 - center) / (count - 1))
    return wilson(center, min(count, count / effect * (_t(count - 1) / _t(groups - 1)) ** 2))


def wilson(center: float, size: float) -> Estimate:
    """Wilson's score interval (1927) of a share among `size` independent observations."""
    weight = _Z**2 / size
    middle = (center + weight / 2) / (1 + weight)
    half = _Z / (1 + weight) * sqrt(center * (1 - center) / size + weight / (4 * size))
    # At 0 and 1 the end is exactly 0 or 1; rounding must not put it just beside the mean.
    return Estimate(center, min(center, max(0.0, middle - half)), max(center, min(1.0, middle + half)))


def paired(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[Any],
    name: str = "",
    bounds: tuple[float, float] = (-inf, inf),
) -> Difference:
    """Mean of `first - second`, where position i of both is the same incident `clusters[i]`.

    Attempts are averaged within their incident. Interval: t on the incidents' differences. p: two-sided sign-flip
    permutation test (Fisher 1935), FLIPS drawn patterns, (as extreme + 1) / (FLIPS + 1); `name` picks the draws. The
    interval is cut off at the `bounds` that no value of either side can pass: their width, up and down.
    """
    differences = _numbers(first) - _numbers(second)
    index, groups = _index(clusters)
    by_incident = np.bincount(index, differences) / np.bincount(index)
    width = bounds[1] - bounds[0]
    estimate = mean(by_incident.tolist(), range(groups), (-width, width))
    return Difference(*estimate, sign_flip(by_incident, name), groups)


def bootstrap(statistic: Callable[[Floats], Floats], clusters: Sequence[Any], name: str = "") -> list[Estimate]:
    """Percentile intervals of figures that no formula covers, by drawing whole clusters again (Efron 1979).

    `statistic` gives the figures for a weight per observation: all 1 for the data as they are, else how often the
    observation's cluster was drawn. A figure that a draw leaves undefined (nan) is left out of its interval.
    """
    index, groups = _index(clusters)
    center = statistic(np.ones(len(index)))
    if groups < 2:
        return [Estimate(float(value), None, None) for value in center]
    draws = np.random.default_rng(stream(0, "bootstrap", name).getrandbits(64))
    counts = draws.multinomial(groups, np.full(groups, 1 / groups), BOOTSTRAP_DRAWS)
    found = np.array([statistic(row[index].astype(np.float64)) for row in counts])
    ends = np.nanquantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return [Estimate(float(c), float(lo), float(hi)) for c, lo, hi in zip(center, *ends, strict=True)]


def sign_flip(differences: Floats, name: str = "") -> float:
    """p of the hypothesis that each difference was as likely to have the other sign."""
    moving = differences[differences != 0]
    if moving.size == 0:
        return 1.0
    bits = stream(0, "sign flips", name)
    bar = abs(moving.sum()) - 1e-9 * np.abs(moving).sum()
    rows, extreme, width = max(1, _BLOCK // moving.size), 0, moving.size
    for start in range(0, PERMUTATIONS, rows):
        count = min(rows, PERMUTATIONS - start)
        drawn = np.frombuffer(bits.randbytes(-(-count * width // 8)), np.uint8)
        signs = np.unpackbits(drawn, count=count * width).reshape(count, width)
        extreme += int((np.abs(2.0 * (signs @ moving) - moving.sum()) >= bar).sum())
    return (extreme + 1) / (PERMUTATIONS + 1)


def pass_k(successes: int, attempts: int, k: int) -> float:
    """Chance that k of the attempts all succeed: C(successes, k) / C(attempts, k) (Yao et al. 2024, tau-bench)."""
    if not 1 <= k <= attempts or not 0 <= successes <= attempts:
        raise ValueError(f"pass^k needs 1 <= k <= attempts, got k={k}, {successes} of {attempts} attempts")
    return comb(successes, k) / comb(attempts, k)


def _t(degrees_of_freedom: int) -> float:
    return float(stdtrit(degrees_of_freedom, 0.5 + LEVEL / 2))


def _numbers(values: Sequence[Any]) -> Floats:
    data = np.asarray(values, np.float64)
    if data.size == 0:
        raise ValueError("no values: a metric that does not apply has no mean")
    return data


def _index(clusters: Sequence[Any]) -> tuple[NDArray[np.int64], int]:
    numbers: dict[Any, int] = {}
    index = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
    return np.asarray(index, np.int64), len(numbers)


def _clustered(data: Floats, clusters: Sequence[Any]) -> tuple[float, float, int]:
    """Mean, its cluster-robust variance (0 for one cluster), number of clusters."""
    index, groups = _index(clusters)
    if len(index) != len(data):
        raise ValueError(f"each value needs its cluster, got {len(data)} values and {len(index)} clusters")
    center = float(data.mean())
    if groups < 2:
        return center, 0.0, groups
    sums = np.bincount(index, data - center)
    return center, float(groups / (groups - 1) * (sums**2).sum() / len(data) ** 2), groups
