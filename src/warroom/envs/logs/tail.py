"""Some lines of a minute, as a page shows them: a declared share of them has nothing to do with the incident.

A fair sample of a stream whose lines are 99 % ordinary would show the trouble once in a dozen pages, so the share is a
property of the page. Related and unrelated lines are of the same classes: requests, complaints about callees, words
of faults. Which class a line is of says nothing of whether it matters.
"""

from math import exp
from typing import NamedTuple

from warroom.envs.logs.normal import QUANTILES
from warroom.envs.logs.patterns import sign_rate
from warroom.envs.logs.signatures import CLASSES, SIGNATURES, Texts
from warroom.envs.logs.stream import TAIL, Stream
from warroom.envs.logs.views import LogLine
from warroom.envs.logs.wordings import (
    BACKGROUND,
    CHRONIC,
    CLIENT,
    FAILED,
    HOUSEKEEPING,
    NUISANCE,
    REFUSED,
    REFUSED_BLIND,
    SERVED,
    TIMEOUT,
    TIMEOUT_BLIND,
)

FIRST, LATER = 14, 6
"""Lines on the first page, and on later ones."""
BYTES = 10
"""Bytes of noise that one line uses."""
AFFECTED = 1.15, 0.01
"""Latency, as a multiple of the healthy one, and share of errors from which a service's requests are affected."""
TROUBLED = 0.01
"""Share of failed calls from which an edge is in trouble."""


class Fact(NamedTuple):
    """A line before it is put into words."""

    second: int
    level: str
    service: int
    texts: Texts
    wording: int
    callee: int
    """-1: none."""
    milliseconds: int
    """Of the texts that state one."""
    number: int
    related: bool


class Scene(NamedTuple):
    """What of a minute a page can tell."""

    failing: list[tuple[int, int, float]]
    """(caller, callee, share of timeouts) of calls in trouble whose callers tell of them."""
    affected: list[int]
    """Services whose requests are slow or fail, and are logged."""
    well: list[int]
    """The others that log durations."""
    healthy: list[tuple[int, int]]
    """Calls in no trouble."""
    signing: list[int]
    """Faults whose root may write its signature now."""


def scene(stream: Stream, minute: int) -> Scene:
    """Sort services and calls of a minute into those in trouble and those that are well."""
    incident, system, snapshot = stream.incident, stream.system, stream.world.snapshots[minute]
    missing = incident.missing
    trouble = [(i, j, late) for i, j, share, late, _ in snapshot.failing if share > TROUBLED and i not in missing]
    busy = {(i, j) for i, j, _ in trouble}
    silent = {fault.target for fault in incident.faults if incident.scenario.hush == 7 and minute < fault.onset + 7}
    slow, wrong = AFFECTED
    affected, well = [], []
    for i, (latency, healthy, error) in enumerate(zip(snapshot.latency, system.latency, snapshot.error, strict=True)):
        if i not in missing and incident.timed[i]:
            bad = latency > slow * healthy or error > wrong
            if not (bad and i in silent):
                (affected if bad else well).append(i)
    return Scene(
        [edge for edge in trouble if incident.habits[edge[0]]],
        affected,
        well,
        [wire for wire in system.wires if wire not in busy and wire[0] not in missing],
        [
            k for k, fault in enumerate(incident.faults)
            if snapshot.active[k] and minute >= fault.onset + incident.scenario.hush and fault.target not in missing
        ],
    )  # fmt: skip


def tail(stream: Stream, minute: int, size: int) -> tuple[list[LogLine], int]:
    """`size` lines of a minute by the writers' clocks, and how many of them are related to the incident."""
    incident, now = stream.incident, scene(stream, minute)
    noise, facts, owed = stream.noise(TAIL, minute, size, BYTES * size + 1), [], 0.0
    owed = noise[-1] / 256  # rounds up as often as it should: the mean share is the declared one
    for k in range(size):
        drawn = noise[BYTES * k : BYTES * (k + 1)]
        owed += incident.noise
        related = owed < 1 and bool(now.failing or now.affected)
        if related:
            facts.append(_related(stream, minute, now, drawn))
        else:
            owed -= 1
            facts.append(_unrelated(stream, minute, now, drawn))
    facts.sort(key=lambda fact: (fact.second + incident.skew[fact.service], fact.service))
    return [_line(stream, minute, fact) for fact in facts], sum([fact.related for fact in facts])


def _line(stream: Stream, minute: int, fact: Fact) -> LogLine:
    name = stream.system.names[fact.callee] if fact.callee >= 0 else ""
    texts = fact.texts[stream.incident.wording]
    text = texts[(stream.incident.key[fact.service & 15] + fact.wording) % len(texts)]
    stated = fact.milliseconds if "{ms}" in text else None
    text = text.format(callee=name, ms=fact.milliseconds, n=fact.number, id=f"{fact.number * 40503 & 65535:04x}")
    clock = fact.second + stream.incident.skew[fact.service]
    return LogLine(minute + clock // 60, clock % 60, fact.level, stream.system.names[fact.service], text, name, stated)


def _related(stream: Stream, minute: int, now: Scene, drawn: bytes) -> Fact:
    """A line that would not be there, or not be so, without the incident."""
    incident = stream.incident
    if now.signing:
        fault = incident.faults[now.signing[drawn[1] % len(now.signing)]]
        if drawn[2] < 64 * sign_rate(stream, fault.mechanism):
            return _word(fault.target, fault.mechanism.signature, 0, drawn, related=True)
    if now.failing and (not now.affected or drawn[3] & 1):
        i, j, late = now.failing[drawn[4] % len(now.failing)]
        return _complaint(stream, i, j, drawn[5] < 256 * late, drawn, related=True)
    i = now.affected[drawn[4] % len(now.affected)]
    snapshot = stream.world.snapshots[minute]
    return _request(stream, minute, i, snapshot.latency[i], drawn[5] < 255 * snapshot.error[i], drawn, related=True)


def _unrelated(stream: Stream, minute: int, now: Scene, drawn: bytes) -> Fact:
    incident = stream.incident
    imitate = incident.dial.imitate * (0.5 if incident.scenario.least_noise else 1)
    if drawn[1] < 256 * imitate:
        return _imitation(stream, minute, now, drawn)
    if incident.drifting and drawn[2] < 35:
        i = list(incident.drifting)[drawn[4] % len(incident.drifting)]
        if i not in incident.missing:
            drift = incident.drifting[i]
            factor = drift.factor if minute > drift.minute else 1.0
            return _timed(stream, minute, i, factor * stream.system.latency[i], BACKGROUND, drawn)
    if now.well and drawn[2] < 215:
        i = now.well[drawn[4] % len(now.well)]
        return _request(stream, minute, i, stream.system.latency[i], drawn[5] < 2, drawn, related=False)
    i = _heard(stream, drawn[4])
    return Fact(drawn[0] * 60 >> 8, "INFO", i, HOUSEKEEPING, drawn[7], -1, 0, drawn[8] * 7 + 3, False)


def _imitation(stream: Stream, minute: int, now: Scene, drawn: bytes) -> Fact:
    """A line that looks like trouble and is none."""
    incident, second = stream.incident, drawn[0] * 60 >> 8
    loud = incident.loud
    if loud is not None and minute >= loud[1] and drawn[3] < 128:
        return Fact(second, "ERROR", loud[0], CLIENT, 0, -1, 0, drawn[8] + 100, False)
    if drawn[3] < 70 and incident.chronic:
        i, _, wording = incident.chronic[drawn[4] % len(incident.chronic)]
        if i not in incident.missing:
            return Fact(second, "ERROR", i, CHRONIC, wording, -1, 0, drawn[8] + 100, False)
    if drawn[3] < 170 and now.healthy:
        i, j = now.healthy[drawn[4] % len(now.healthy)]
        return _complaint(stream, i, j, bool(drawn[5] & 1), drawn, related=False)
    i = _heard(stream, drawn[4])
    if drawn[3] < 205:
        return Fact(second, "WARN", i, NUISANCE, drawn[7], -1, drawn[6], drawn[8] + 100, False)
    return _word(i, CLASSES[drawn[5] % len(CLASSES)], drawn[6], drawn, related=False)


def _heard(stream: Stream, byte: int) -> int:
    """Any service whose logs arrive; the gateway's always do."""
    i = byte * stream.system.size >> 8
    return 0 if i in stream.incident.missing else i


def _word(service: int, kind: str, wording: int, drawn: bytes, related: bool) -> Fact:
    """A service's own words about a fault, real or not."""
    return Fact(
        drawn[0] * 60 >> 8, "WARN", service, SIGNATURES[kind], wording, -1, 100 + 8 * drawn[6], 20 + drawn[8], related
    )


def _complaint(stream: Stream, i: int, j: int, late: bool, drawn: bytes, related: bool) -> Fact:
    """A caller's words about a call, by its habits: at its level, naming the callee or not."""
    named = stream.names_callee(i, j)
    texts = (TIMEOUT if named else TIMEOUT_BLIND) if late else (REFUSED if named else REFUSED_BLIND)
    level = stream.incident.habits[i] or "WARN"
    waited = round(stream.system.latency[j] * (3 + drawn[6] / 256))
    return Fact(drawn[0] * 60 >> 8, level, i, texts, 0, j if named else -1, waited, drawn[8] + 100, related)


def _request(stream: Stream, minute: int, i: int, latency: float, failed: bool, drawn: bytes, related: bool) -> Fact:
    fact = _timed(stream, minute, i, latency, FAILED if failed else SERVED, drawn)
    return fact._replace(related=related)


def _timed(stream: Stream, minute: int, i: int, latency: float, texts: Texts, drawn: bytes) -> Fact:
    """An ordinary line that states how long something took."""
    took = stream.duration(i, minute, latency) * exp(stream.incident.dial.spread * QUANTILES[drawn[6]])
    return Fact(drawn[0] * 60 >> 8, "INFO", i, texts, drawn[7] & 1, -1, max(1, round(took)), drawn[8] + 100, False)
