"""Why: the figures behind a conclusion, as sentences for people."""

from collections.abc import Sequence
from math import exp

from warroom.envs.logs.policies.picture import Picture
from warroom.envs.logs.policies.words import UNFAMILIAR
from warroom.envs.logs.views import Overview

LEAST_NATS, LEAST_ERRORS = 1.0, 2.0
"""Weight from which failures are mentioned, and standard errors from which a slower median is."""
LOUD = 1.5
"""Factor on a service's ERROR lines from which the overview is quoted."""


def evidence(picture: Picture, roots: Sequence[str], overview: Overview | None) -> tuple[str, ...]:
    """What speaks for these roots, root by root, then how users fare and who is loud besides."""
    found = [line for root in roots for line in _about(picture, root)]
    return (*found, *_users(picture), *_loud(roots, overview))


def _about(picture: Picture, root: str) -> list[str]:
    return [*_callers(picture, root), *_itself(picture, root), *_below(picture, root)]


def _callers(picture: Picture, root: str) -> list[str]:
    lines = []
    for logs, row in picture.rows[root]:
        if row.failed.now > row.failed.before:
            late = f", {row.late}% of them timeouts" if row.late else ""
            lines.append(
                f"{logs.service}: {row.failed.now:g} of {row.made.now:g} calls of {root} failed "
                f"(before {row.failed.before:g} of {row.made.before:g}){late}"
            )
        if row.median.now > row.median.before:
            lines.append(f"{logs.service}: calls of {root} take {row.median.now:g} ms, before {row.median.before:g} ms")
    return lines


def _itself(picture: Picture, root: str) -> list[str]:
    logs = picture.readings.get(root)
    if logs is None:
        return []
    if logs.level.lines is None:
        return [f"{root}: no logs arrive, judged by its callers"]
    lines = [f"{root}: new words of {name}, {count:g} lines" for name, count in picture.words(root).items()]
    if picture.surge(root) > 0.2:
        lines.append(f"{root}: handles {exp(picture.surge(root)):.1f} times what its callers ask for")
    lines += [f"{root}: {what} started in minute {minute:+d}" for minute, what in logs.started]
    return [line.replace(f"words of {UNFAMILIAR}", "words of no known kind") for line in lines]


def _below(picture: Picture, root: str) -> list[str]:
    """Callees that are well: the trouble goes no deeper."""
    if not picture.heard(root):
        return []
    well = [
        callee
        for callee in picture.catalogue.entry(root).calls
        if (sign := picture.refused(callee)) is not None and sign.weight < LEAST_NATS
        if (wait := picture.waited(callee)) is None or wait.errors < LEAST_ERRORS
    ]
    return [f"{root}: its calls of {', '.join(well)} are well"] if well else []


def _users(picture: Picture) -> list[str]:
    logs = picture.readings.get(picture.gateway)
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
