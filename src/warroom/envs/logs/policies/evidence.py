"""Why: the figures behind a conclusion, as sentences for people."""

from collections.abc import Sequence
from math import exp

from warroom.envs.logs.policies.keywords import UNFAMILIAR
from warroom.envs.logs.policies.system_view import SystemView
from warroom.envs.logs.views import Overview

MIN_LOG_ODDS, MIN_ERRORS = 1.0, 2.0
"""Weight from which failures are mentioned, and standard errors from which a slower median is."""
LOUD = 1.5
"""Factor on a service's ERROR lines from which the overview is quoted."""


def evidence(system_view: SystemView, roots: Sequence[str], overview: Overview | None) -> tuple[str, ...]:
    """What speaks for these roots, root by root, then how users fare and who is loud besides."""
    found = [line for root in roots for line in _about(system_view, root)]
    return (*found, *_users(system_view), *_loud(roots, overview))


def _about(system_view: SystemView, root: str) -> list[str]:
    return [*_callers(system_view, root), *_itself(system_view, root), *_below(system_view, root)]


def _callers(system_view: SystemView, root: str) -> list[str]:
    lines = []
    for logs, row in system_view.rows[root]:
        if row.failed.now > row.failed.before:
            late = f", {row.late}% of them timeouts" if row.late else ""
            lines.append(
                f"{logs.service}: {row.failed.now:g} of {row.made.now:g} calls of {root} failed "
                f"(before {row.failed.before:g} of {row.made.before:g}){late}"
            )
        if row.median.now > row.median.before:
            lines.append(f"{logs.service}: calls of {root} take {row.median.now:g} ms, before {row.median.before:g} ms")
    return lines


def _itself(system_view: SystemView, root: str) -> list[str]:
    logs = system_view.readings.get(root)
    if logs is None:
        return []
    if logs.level.lines is None:
        return [f"{root}: no logs arrive, judged by its callers"]
    lines = [f"{root}: new words of {name}, {count:g} lines" for name, count in system_view.words(root).items()]
    if system_view.surge(root) > 0.2:
        lines.append(f"{root}: handles {exp(system_view.surge(root)):.1f} times what its callers ask for")
    lines += [f"{root}: {what} started in minute {minute:+d}" for minute, what in logs.started]
    return [line.replace(f"words of {UNFAMILIAR}", "words of no known kind") for line in lines]


def _below(system_view: SystemView, root: str) -> list[str]:
    """Callees that are well: the trouble goes no deeper."""
    if not system_view.has_logs(root):
        return []
    well = [
        callee
        for callee in system_view.catalogue.entry(root).calls
        if (sign := system_view.observed_failures(callee)) is not None and sign.weight < MIN_LOG_ODDS
        if (wait := system_view.observed_latency(callee)) is None or wait.errors < MIN_ERRORS
    ]
    return [f"{root}: its calls of {', '.join(well)} are well"] if well else []


def _users(system_view: SystemView) -> list[str]:
    logs = system_view.readings.get(system_view.gateway)
    if logs is None or logs.handled is None or logs.failed is None:
        return []
    median = f", median {logs.median.before:g} -> {logs.median.now:g} ms" if logs.median is not None else ""
    return [f"users: {logs.failed.now:g} of {logs.handled.now:g} requests fail{median}"]


def _loud(roots: Sequence[str], overview: Overview | None) -> list[str]:
    levels = overview.levels if overview is not None else ()
    return [
        f"{level.service} is loud (ERROR {level.errors.render()}) and not accused by its callers"
        for level in levels
        if level.errors is not None and level.service not in roots
        if level.errors.now > LOUD * max(1.0, level.errors.before)
    ]
