"""Lines at WARN or above, counted by their wording with the numbers masked: what a log viewer calls patterns."""

from collections.abc import Iterator, Sequence

from warroom.envs.logs.normal import count
from warroom.envs.logs.stream import SIGNS, Stream
from warroom.envs.logs.views import WINDOW, Pair, Pattern
from warroom.envs.logs.wordings import CHRONIC, CLIENT, REFUSED, REFUSED_BLIND, SIGNATURES, TIMEOUT, TIMEOUT_BLIND
from warroom.sim.mechanism import INTERNAL, Mechanism
from warroom.sim.snapshot import Snapshot

MOST = 6
"""Patterns that a reply shows at most."""
FROM_OUTSIDE = 0.3
"""Least probability that trouble from outside leaves its words: little else tells it from a crash."""


def patterns(stream: Stream, service: int, last: int, now: Sequence[Snapshot]) -> tuple[Pattern, ...]:
    """The patterns of one service in the window that ends with minute `last`, the most frequent first."""
    noise = iter(stream.noise(SIGNS, last, service, 64))
    rows = [
        *_steady(stream, service, last, noise),
        *_complaints(stream, service, now, noise),
        *_decoys(stream, service, noise),
        *_signs(stream, service, last, noise),
    ]
    rows.sort(key=lambda row: (-max(row.occurrences), row.text))
    return tuple([row for row in rows if any(row.occurrences)][:MOST])


def masked(text: str, callee: str = "") -> str:
    """A wording with its numbers masked."""
    return text.format(n="<n>", ms="<n>", id="<id>", callee=callee)


def signature_probability(stream: Stream, mechanism: Mechanism) -> float:
    """Probability that a root writes its signature at one of its chances."""
    signs = stream.incident.tier_config.signature_rate
    return max(signs, FROM_OUTSIDE) if mechanism.origin != INTERNAL else signs


def _steady(stream: Stream, service: int, last: int, noise: Iterator[int]) -> list[Pattern]:
    """Errors that have nothing to do with anything."""
    incident, rows = stream.incident, []
    for i, share, wording in incident.chronic:
        if i == service:
            usual = WINDOW * stream.total * share
            text = masked(stream.wording(CHRONIC, service, wording))
            rows.append(Pattern("ERROR", text, Pair(count(usual, next(noise)), count(usual, next(noise)))))
    noisy = incident.noisy_service
    if noisy is not None and noisy.service == service:
        minutes = max(0, min(WINDOW, last - noisy.since + 1))
        text = masked(stream.wording(CLIENT, service))
        rows.append(Pattern("ERROR", text, Pair(0, count(minutes * stream.total * noisy.share, next(noise)))))
    return rows


def _decoys(stream: Stream, service: int, noise: Iterator[int]) -> list[Pattern]:
    """Words about faults that are not there: before and now alike."""
    rows = []
    for k, (kind, i) in enumerate(stream.incident.decoys):
        if i == service:
            usual = 1 + (stream.incident.key[k] & 3)
            text = masked(stream.wording(SIGNATURES[kind], service))
            rows.append(Pattern("WARN", text, Pair(count(usual, next(noise)), count(usual, next(noise)))))
    return rows


def _complaints(stream: Stream, service: int, now: Sequence[Snapshot], noise: Iterator[int]) -> list[Pattern]:
    """What a caller writes about calls that fail, by its habit."""
    incident = stream.incident
    failure_log_level, rows = incident.failure_log_levels[service], []
    if not failure_log_level:
        return []
    totals: dict[int, list[float]] = {}
    for snapshot in now:
        for i, j, share, late, calls in snapshot.failing:
            if i == service:
                failures = 60 * incident.sampling_rate * calls * share
                total = totals.setdefault(j, [0.0, 0.0])
                total[0] += failures * late
                total[1] += failures * (1 - late)
    for j, (late, refused) in totals.items():
        named, callee = stream.names_callee(service, j), stream.system.names[j]
        for texts, blind, mean in ((TIMEOUT, TIMEOUT_BLIND, late), (REFUSED, REFUSED_BLIND, refused)):
            number = count(mean, next(noise)) if mean >= 0.5 else 0
            text = masked(stream.wording(texts if named else blind, service), callee)
            rows.append(Pattern(failure_log_level, text, Pair(0, number)))
    return rows


def _signs(stream: Stream, service: int, last: int, noise: Iterator[int]) -> list[Pattern]:
    """What a root writes about itself, seldom and late."""
    incident, rows = stream.incident, []
    for k, fault in enumerate(incident.faults):
        if fault.target != service:
            continue
        since = fault.onset + incident.scenario.silent_minutes
        minutes = range(max(since, last - WINDOW + 1), last + 1)
        chances = 3 * sum([stream.world.snapshots[minute].active[k] for minute in minutes])
        rate = 256 * signature_probability(stream, fault.mechanism)
        signs = sum([next(noise) < rate for _ in range(chances)])
        if signs:
            text = masked(stream.wording(SIGNATURES[fault.mechanism.signature], service))
            rows.append(Pattern("WARN", text, Pair(0, signs)))
    return rows
