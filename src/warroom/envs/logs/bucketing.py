"""Figures of logs as graded words: how much fails, how much slower it got, how much more is written.

Chance is left out: a share needs more than two failures, and a factor is stated as nearer to 1 than it was measured.
"""

from math import exp, log, sqrt

from warroom.envs.compact import Grades, grade_word
from warroom.envs.logs.views import CallLogs, Level, Pair, ServiceLogs

FAILING: Grades = (
    (1, "e1"), (3, "e3"), (5, "e5"), (7, "e7"), (10, "e10"), (14, "e14"), (20, "e20"), (28, "e28"), (35, "e35"),
    (60, "e60"),
)  # fmt: skip
"""Per cent of the requests that fail beyond the usual; close where the rule of severity decides."""
SLOWER: Grades = (
    (0.0, "p-"), (0.8, ""), (1.15, "p1.15"), (1.3, "p1.3"), (1.5, "p1.5"), (1.8, "p1.8"), (2.2, "p2"), (3, "p3"),
    (4.3, "p4"), (6, "p6"),
)  # fmt: skip
"""Factor on a median."""
UNEXPLAINED_TRAFFIC: Grades = ((1.1, "strangers"), (1.35, "flood"))
"""Factor by which a service handles more than its callers made."""
NOISE_RISE: Grades = ((2, "din2"), (5, "din5"), (10, "din10"), (20, "din20"))
"""Standard errors by which lines at WARN and ERROR have risen in the whole system."""
RISE: Grades = ((1.4, "up1"), (2.2, "up2"), (4, "up3"))
"""Factor on a count."""
HOW_MANY: Grades = ((1, "few"), (3, "some"), (8, "many"))
"""Lines of a class."""
TABLES = (FAILING, SLOWER, UNEXPLAINED_TRAFFIC, NOISE_RISE, RISE, HOW_MANY)
MANY_FAILURES = 3
"""Failures beyond the usual that are no chance: one or two happen in any window."""
MEDIAN_SCATTER = 0.7
"""Standard error of the logarithm of a median of one duration; that of n is smaller by the root of n."""
SEVERITY_THRESHOLDS = 5.0, 1.5
"""Per cent of failures, and factor on a median, from which the rule of severity minds."""
WAY_OF_FAILING_SHARE = 33
"""Per cent of the failures from which a way of failing is stated."""


def bucket(table: Grades, value: float) -> list[str]:
    """The word of the highest bound that `value` reaches, if it reaches one that has a word."""
    word = grade_word(table, value)
    return [word] if word else []


def shrink_to_one(factor: float, error: float) -> float:
    """A factor, nearer to 1 by one standard error of its logarithm."""
    change = log(factor)
    return exp(max(0.0, abs(change) - error) * (1 if change > 0 else -1))


def failing(failed: Pair, made: Pair) -> float:
    """Per cent of the requests now that fail beyond the usual; 0 where chance would do."""
    usual = failed.before / made.before if made.before else 0.0
    if made.now < 1 or failed.now - usual * made.now < MANY_FAILURES:
        return 0.0
    return 100 * (failed.now / made.now - usual)


def slower(median: Pair | None, count: Pair) -> float:
    """Factor on a median, less what chance would do."""
    if median is None or min(*median, *count) <= 0:
        return 1.0
    return shrink_to_one(median.now / median.before, MEDIAN_SCATTER * sqrt(1 / count.before + 1 / count.now))


def busier(handled: Pair, asked: Pair) -> float:
    """Factor by which a service handles more than it was asked, less what chance would do."""
    counts = (*handled, *asked)
    if min(counts) < 1:
        return 1.0
    factor = (handled.now / handled.before) / (asked.now / asked.before)
    return shrink_to_one(factor, sqrt(sum([1 / count for count in counts])))


def badness(fails: float, factor: float) -> float:
    """How bad it is to be served so: 1 where the rule of severity begins to mind."""
    return max(fails / SEVERITY_THRESHOLDS[0], log(factor) / log(SEVERITY_THRESHOLDS[1]))


def badness_of(row: CallLogs | ServiceLogs) -> float:
    """How bad the calls of a service are, or its own requests."""
    if isinstance(row, CallLogs):
        return badness(failing(row.failed, row.made), slower(row.median, row.made))
    if row.handled is None:
        return 0.0
    fails = failing(row.failed, row.handled) if row.failed is not None else 0.0
    return badness(fails, slower(row.median, row.handled))


def grade_words(row: CallLogs | ServiceLogs) -> list[str]:
    """What fails, of calls also whether late or promptly, and how much slower it got; `ok` where all is well."""
    if isinstance(row, CallLogs):
        fails = bucket(FAILING, failing(row.failed, row.made))
        how = [word for word, share in (("late", row.late), ("prompt", 100 - row.late)) if share > WAY_OF_FAILING_SHARE]
        return [*fails, *(how if fails else []), *bucket(SLOWER, slower(row.median, row.made))] or ["ok"]
    if row.handled is None:
        return ["ok"]
    fails = bucket(FAILING, failing(row.failed, row.handled)) if row.failed is not None else []
    return [*fails, *bucket(SLOWER, slower(row.median, row.handled))] or ["ok"]


def noise_rise(volume: Level) -> list[str]:
    """Whether the whole system complains more than before."""
    if volume.warnings is None or volume.errors is None:
        return []
    before, now = volume.warnings.before + volume.errors.before, volume.warnings.now + volume.errors.now
    return bucket(NOISE_RISE, (now - before) / sqrt(max(1.0, before + now)))


def count_rise(count: Pair) -> list[str]:
    """Whether clearly more is written than before."""
    return bucket(RISE, max(0.0, count.now - sqrt(count.now)) / (count.before + 1))
