"""What services write: callers tell of calls that fail, victims now and then of themselves, some of nothing at all."""

from typing import NamedTuple

from warroom.sim.incident import Incident
from warroom.sim.snapshot import Snapshot
from warroom.sim.sweep import FailingCall
from warroom.sim.wordings import CHRONIC, FAILED, SIGNATURES, TIMEOUT

NOISE = 200
"""Bytes of noise that a minute of lines can use up at most: twelve for an edge, five for a fault, four for a decoy."""
LINES_PER_REQUEST = 37
"""Log lines that one user request leaves behind, all services together (a system of 46 services leaves 36 to 48)."""
MOST_EDGES = 12
"""Failing call edges that write lines in one minute; the rest is only counted."""
DECOY_WRITES = 90
"""Of 256 minutes, those in which a decoy writes its line."""
_LATE_ECHO = ("overload", "heap", "lock", "pool", "wire")
_FAST_ECHO = ("handler", "lookup", "foreign", "trust", "quota")


class LineRecord(NamedTuple):
    """A line of a log."""

    minute: int
    service: int
    level: str
    text: str


class LineCounts(NamedTuple):
    """Lines written in a minute, all services together."""

    info: int
    warn: int
    error: int


def count_lines(users: float, failing: list[FailingCall]) -> LineCounts:
    """Lines by level that were written in a minute."""
    info = 60 * LINES_PER_REQUEST * users
    failures = 60 * sum([calls * failed for _, _, failed, _, calls in failing])
    return LineCounts(int(info), int(0.04 * info + 0.25 * failures), int(0.003 * info + 0.25 * failures))


def write_lines(incident: Incident, snapshot: Snapshot, minute: int, noise: bytes) -> list[LineRecord]:
    """Lines at WARN or above that were written in a minute, in random order."""
    draw, part = iter(noise).__next__, incident.wording
    lines: list[tuple[int, LineRecord]] = []

    def write(service: int, level: str, words: tuple[str, ...], callee: str = "") -> None:
        text, number = words[draw() * len(words) >> 8], 200 + 10 * draw()
        if callee:
            text = text.replace("{callee}", callee)
        elif "{n}" in text:
            text = text.replace("{n}", str(number))
        lines.append((draw(), LineRecord(minute, service, level, text)))

    config, names, others = incident.tier, incident.system.names, incident.system.size - 1
    imitation, wrong_callee = 256 * config.imitation, 256 * config.wrong_callee
    for i, j, failed, late, _ in snapshot.failing[:MOST_EDGES]:
        if failed <= 0.03 or draw() >= 64 + 128 * failed:
            continue
        if draw() < wrong_callee:
            j = 1 + (draw() * others >> 8)
        timeout = draw() < 256 * late
        if draw() < imitation:  # failures surface in callers, in callers' words
            write(i, "ERROR", SIGNATURES[(_LATE_ECHO if timeout else _FAST_ECHO)[draw() * 5 >> 8]][part])
        if timeout:
            write(i, "WARN", TIMEOUT[part], names[j])
        else:
            write(i, "ERROR", FAILED[part], names[j])
    for fault, active in zip(incident.faults, snapshot.active, strict=True):
        if active and not fault.silent and draw() < 256 * config.signature_rate:
            kind = fault.mechanism.signature
            write(_writer(incident, fault.target, kind, draw()), "ERROR", SIGNATURES[kind][part])
    for kind, i in incident.decoys:
        if draw() < DECOY_WRITES:
            write(i, "ERROR", SIGNATURES[kind][part])
    write(1 + (draw() * others >> 8), "WARN", CHRONIC[part])
    lines.sort()
    return [line for _, line in lines]


def _writer(incident: Incident, target: int, kind: str, byte: int) -> int:
    """Who notices: callers when the call never arrives in good order, the receiver when it gets what is not its own."""
    if kind in ("trust", "wire"):
        callers = incident.system.callers[target]
        return callers[byte * len(callers) >> 8]
    return incident.receiver if kind == "foreign" else target
