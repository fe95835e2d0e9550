"""Some lines of a minute, as a page shows them: a declared share of them has nothing to do with the incident.

A fair sample of a stream whose lines are 99 % ordinary would show the trouble once in a dozen pages, so the share is a
property of the page. Most related lines are what users see at the gateway, which says that something is wrong and not
where. The rest are sought anywhere in the system, as unrelated lines are, and both are of the same classes: requests,
complaints about callees, words of faults. So which services write, and which class a line is of, says little of whether
it matters.
"""

from math import exp
from typing import NamedTuple

from warroom.envs.logs.incident import LogsIncident
from warroom.envs.logs.normal import QUANTILES
from warroom.envs.logs.signatures import CLASSES, SIGNATURES, Texts
from warroom.envs.logs.stream import TAIL, Stream
from warroom.envs.logs.views import LogEntry
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

FIRST, LATER = 10, 6
"""Lines on the first page, and on later ones."""
BYTES = 10
"""Bytes of noise that one line uses."""
AFFECTED = 1.15, 0.01
"""Latency, as a multiple of the healthy one, and share of errors from which a service's requests are affected."""
GATEWAY_AFFECTED = 1.02, 0.001
"""The same for the gateway while anything is broken: users notice the least of it."""
FAILING_EDGE_SHARE = 0.01
"""Share of failed calls from which an edge is in trouble."""
SIGNATURE_BYTES = 32
"""256 times the probability that a related line is the root's own word, for each unit of the dial."""
UNNAMED_BYTES, BACKGROUND_BYTES, FLAKY_BYTES = 100, 30, 192
"""256 times these shares: gateway lines that complain of no service in particular, ordinary lines about background
work, and hiccups that come from the few calls that often have them."""


class LineSpec(NamedTuple):
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


class MinuteState(NamedTuple):
    """What of a minute a page can tell."""

    failing: dict[tuple[int, int], float]
    """Calls in trouble whose callers tell of them -> share of timeouts, callers before callees."""
    affected: list[int]
    """Services whose requests are slow or fail, and are logged; callers before callees."""
    healthy_services: list[int]
    """The others that log durations."""
    healthy: list[tuple[int, int]]
    """Calls in no trouble whose callers tell of failures."""
    signing_faults: list[int]
    """Faults whose root may write its signature now."""


def minute_state(stream: Stream, minute: int) -> MinuteState:
    """Sort services and calls of a minute into those in trouble and those that are well."""
    incident, system, snapshot = stream.incident, stream.system, stream.world.snapshots[minute]
    tells = [
        bool(failure_log_level) and i not in incident.missing
        for i, failure_log_level in enumerate(incident.failure_log_levels)
    ]
    trouble = sorted([(i, j, late) for i, j, share, late, _ in snapshot.failing if share > FAILING_EDGE_SHARE])
    busy = {(i, j) for i, j, _ in trouble}
    affected, healthy_services = _sorted(stream, minute)
    return MinuteState(
        {(i, j): late for i, j, late in trouble if tells[i]},
        affected,
        healthy_services,
        [link for link in system.links if link not in busy and tells[link[0]]],
        [
            k for k, fault in enumerate(incident.faults)
            if snapshot.active[k] and minute >= fault.onset + incident.scenario.silent_minutes
            and fault.target not in incident.missing
        ],
    )  # fmt: skip


def _sorted(stream: Stream, minute: int) -> tuple[list[int], list[int]]:
    """Services that log durations: those whose requests are affected, and those that are well."""
    incident, system, snapshot = stream.incident, stream.system, stream.world.snapshots[minute]
    silent_roots = _silent_roots(incident, minute)
    affected: list[int] = []
    healthy_services: list[int] = []
    slow, wrong = GATEWAY_AFFECTED if any(snapshot.active) else AFFECTED
    for i, (latency, healthy, error) in enumerate(zip(snapshot.latency, system.latency, snapshot.error, strict=True)):
        bad = latency > slow * healthy or error > wrong
        slow, wrong = AFFECTED
        if i not in incident.missing and incident.timed[i] and not (bad and i in silent_roots):
            (affected if bad else healthy_services).append(i)
    return affected, healthy_services


def _silent_roots(incident: LogsIncident, minute: int) -> set[int]:
    """Roots that stall and write nothing of their own yet. A root that drifts goes on writing its ordinary lines."""
    silent_minutes = incident.scenario.silent_minutes
    return {
        fault.target
        for fault in incident.faults
        if minute < fault.onset + silent_minutes and not fault.mechanism.gradual
    }


def tail(stream: Stream, minute: int, size: int) -> tuple[list[LogEntry], int]:
    """`size` lines of a minute by the writers' clocks, and how many of them are related to the incident."""
    incident, now = stream.incident, minute_state(stream, minute)
    noise = stream.noise(TAIL, minute, size, BYTES * size + 1)
    # False alarms look alike: gateway lines take the place of related ones.
    share = incident.noise if incident.faults else incident.tier_config.noise
    line_specs: list[LineSpec] = []
    unrelated_owed = noise[-1] / 256  # rounds up as often as it should: the mean share is the declared one
    for k in range(size):
        drawn = noise[BYTES * k : BYTES * (k + 1)]
        unrelated_owed += share
        if unrelated_owed >= 1:
            unrelated_owed -= 1
            line_specs.append(_unrelated(stream, minute, now, drawn, share))
        elif now.failing or now.affected:
            line_specs.append(_related(stream, minute, now, drawn))
        else:
            line_specs.append(_ordinary(stream, minute, 0, drawn))
    line_specs.sort(
        key=lambda line_spec: (line_spec.second + incident.clock_skew[line_spec.service], line_spec.service)
    )
    return [_line(stream, minute, line_spec) for line_spec in line_specs], sum(
        [line_spec.related for line_spec in line_specs]
    )


def _line(stream: Stream, minute: int, line_spec: LineSpec) -> LogEntry:
    second, level, service, texts, wording, callee, took, number, _ = line_spec
    names = stream.system.names
    name = names[callee] if callee >= 0 else ""
    wordings = texts[stream.incident.wording]
    text = wordings[(stream.incident.key[service & 15] + wording) % len(wordings)]
    stated = took if "{ms}" in text else None
    text = text.format(callee=name, ms=took, n=number, id=f"{number * 40503 & 65535:04x}")
    clock = second + stream.incident.clock_skew[service]
    return LogEntry(minute + clock // 60, clock % 60, level, names[service], text, name, stated)


def _related(stream: Stream, minute: int, now: MinuteState, drawn: bytes) -> LineSpec:
    """A line that would not be there, or not be so, without the incident."""
    incident, system = stream.incident, stream.system
    if now.signing_faults and drawn[2] < SIGNATURE_BYTES * incident.tier_config.signature_rate:
        fault = incident.faults[now.signing_faults[drawn[1] % len(now.signing_faults)]]
        return _signature_line(fault.target, fault.mechanism.signature, drawn, related=True)
    if drawn[3] < 256 * incident.tier_config.deep_share:
        i, link = drawn[4] * system.size >> 8, system.links[drawn[4] * len(system.links) >> 8]
        if drawn[3] % 3 and link in now.failing:
            return _complaint(stream, *link, drawn[5] < 256 * now.failing[link], drawn, related=True)
        if not drawn[3] % 3 and i in now.affected:
            return _affected(stream, minute, i, drawn)
    return _user_visible_line(stream, minute, now, drawn)


def _user_visible_line(stream: Stream, minute: int, now: MinuteState, drawn: bytes) -> LineSpec:
    """What users notice: the gateway's lines, if it has any to write, else those of any service in trouble."""
    blind = [link for link in now.failing if link[0] == 0 and not stream.names_callee(*link)]
    if blind and drawn[9] < UNNAMED_BYTES:
        link = blind[drawn[7] % len(blind)]
        return _complaint(stream, *link, drawn[5] < 256 * now.failing[link], drawn, related=True)
    if now.affected:
        return _affected(stream, minute, 0 if 0 in now.affected else now.affected[drawn[7] % len(now.affected)], drawn)
    link, late = list(now.failing.items())[drawn[7] % len(now.failing)]
    return _complaint(stream, *link, drawn[5] < 256 * late, drawn, related=True)


def _unrelated(stream: Stream, minute: int, now: MinuteState, drawn: bytes, share: float) -> LineSpec:
    """A line that would be there without the incident; `share` of the page's lines are such."""
    incident = stream.incident
    imitation_share = incident.tier_config.imitation_share * (0.5 if incident.scenario.min_noise else 1)
    if drawn[1] < 256 * imitation_share:
        return _imitation(stream, minute, now, drawn)
    i = drawn[4] * stream.system.size >> 8
    # As many requests of services that are well as of affected ones: whose lines are shown must tell nothing.
    balance = (1 - share) * incident.tier_config.deep_share / (3 * share * (1 - imitation_share))
    if drawn[2] < 256 * balance and (i in now.healthy_services or (i in now.affected and drawn[9] < BACKGROUND_BYTES)):
        return (
            _background(stream, minute, i, drawn)
            if drawn[9] < BACKGROUND_BYTES
            else _ordinary(stream, minute, i, drawn)
        )
    i = _service_with_logs(stream, drawn[4])
    return LineSpec(drawn[0] * 60 >> 8, "INFO", i, HOUSEKEEPING, drawn[7], -1, 0, drawn[8] * 7 + 3, False)


def _imitation(stream: Stream, minute: int, now: MinuteState, drawn: bytes) -> LineSpec:
    """A line that looks like trouble and is none."""
    incident, second = stream.incident, drawn[0] * 60 >> 8
    noisy_service = incident.noisy_service
    if noisy_service is not None and minute >= noisy_service[1] and drawn[3] < 128:
        return LineSpec(second, "ERROR", noisy_service[0], CLIENT, 0, -1, 0, drawn[8] + 100, False)
    if drawn[3] < 70 and incident.chronic:
        i, _, wording = incident.chronic[drawn[4] % len(incident.chronic)]
        if i not in incident.missing:
            return LineSpec(second, "ERROR", i, CHRONIC, wording, -1, 0, drawn[8] + 100, False)
    if drawn[3] < 125 and now.healthy:
        return _complaint(stream, *_flaky(stream, now, drawn), bool(drawn[5] & 1), drawn, related=False)
    i = _service_with_logs(stream, drawn[4])
    if drawn[3] < 165:
        return LineSpec(second, "WARN", i, NUISANCE, drawn[7], -1, drawn[6], drawn[8] + 100, False)
    if drawn[3] < 205 and i in now.healthy_services:
        return _request(stream, minute, i, stream.system.latency[i], True, drawn, related=False)
    return _signature_line(i, CLASSES[drawn[5] % len(CLASSES)], drawn, related=False)


def _flaky(stream: Stream, now: MinuteState, drawn: bytes) -> tuple[int, int]:
    """A call that fails now and then in a healthy system: mostly one of a few that often do."""
    wires, key = stream.system.links, stream.incident.key
    often = [wires[key[k] % len(wires)] for k in range(1 + stream.incident.tier_config.decoys)]
    known = [link for link in often if link in now.healthy]
    choice = known if known and drawn[9] < FLAKY_BYTES else now.healthy
    return choice[drawn[4] % len(choice)]


def _service_with_logs(stream: Stream, byte: int) -> int:
    """Any service whose logs arrive; the gateway's always do."""
    i = byte * stream.system.size >> 8
    return 0 if i in stream.incident.missing else i


def _signature_line(service: int, kind: str, drawn: bytes, related: bool) -> LineSpec:
    """A service's own words about a fault, real or not: always the same, since one code base has one wording."""
    return LineSpec(
        drawn[0] * 60 >> 8, "WARN", service, SIGNATURES[kind], 0, -1, 100 + 8 * drawn[6], 20 + drawn[8], related
    )


def _complaint(stream: Stream, i: int, j: int, late: bool, drawn: bytes, related: bool) -> LineSpec:
    """A caller's words about a call, by its habits: at its level, naming the callee or not."""
    named = stream.names_callee(i, j)
    texts = (TIMEOUT if named else TIMEOUT_BLIND) if late else (REFUSED if named else REFUSED_BLIND)
    level = stream.incident.failure_log_levels[i] or "WARN"
    waited = round(stream.system.latency[j] * (3 + drawn[6] / 256))
    return LineSpec(drawn[0] * 60 >> 8, level, i, texts, 0, j if named else -1, waited, drawn[8] + 100, related)


def _affected(stream: Stream, minute: int, i: int, drawn: bytes) -> LineSpec:
    """A request that is slow or fails, as it came out."""
    snapshot = stream.world.snapshots[minute]
    return _request(stream, minute, i, snapshot.latency[i], drawn[5] < 255 * snapshot.error[i], drawn, related=True)


def _ordinary(stream: Stream, minute: int, i: int, drawn: bytes) -> LineSpec:
    """A request at a service that is well; a few fail on any day."""
    return _request(stream, minute, i, stream.system.latency[i], drawn[5] < 5, drawn, related=False)


def _background(stream: Stream, minute: int, i: int, drawn: bytes) -> LineSpec:
    """Work that no user waits for; that of some services gets slower, and no one notices."""
    drift = stream.incident.drifting.get(i)
    factor = drift.factor if drift is not None and minute > drift.minute else 1.0
    return _timed(stream, minute, i, factor * stream.system.latency[i], BACKGROUND, drawn)


def _request(
    stream: Stream, minute: int, i: int, latency: float, failed: bool, drawn: bytes, related: bool
) -> LineSpec:
    return _timed(stream, minute, i, latency, FAILED if failed else SERVED, drawn, related)


def _timed(
    stream: Stream, minute: int, i: int, latency: float, texts: Texts, drawn: bytes, related: bool = False
) -> LineSpec:
    """An ordinary line that states how long something took."""
    took = stream.duration(i, minute, latency) * exp(stream.incident.tier_config.spread * QUANTILES[drawn[6]])
    return LineSpec(
        drawn[0] * 60 >> 8, "INFO", i, texts, drawn[7] & 1, -1, max(1, round(took)), drawn[8] + 100, related
    )
