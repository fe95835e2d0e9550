"""What instruments report of a world: metrics, alerts, logs, call traces and the fleet's record.

Everything is a pure function of (snapshot of the minute, key of the incident): no look depends on which looks came
before it, and a minute reads the same late as early, whatever people have repaired in between.
"""

from hashlib import shake_128
from typing import NamedTuple

from warroom.sim.automation import Deed
from warroom.sim.incident import HISTORY, TIERS
from warroom.sim.wordings import (
    BLAME,
    CHRONIC,
    FAILED,
    REASONS,
    SIGNATURES,
    STUCK,
    TIMEOUT,
)
from warroom.sim.world import Snapshot, World

P95 = 1.6
"""95th percentile of latency as a multiple of its mean."""
DEGRADED_ERROR, CRITICAL_ERROR = 0.05, 0.3
"""Error shares from which a service counts as degraded and as critical."""
SLOW, VERY_SLOW = 2.5, 4.0
"""Latencies, as multiples of the healthy one, for the same two states."""
LINES_PER_REQUEST = 37
"""Log lines that one user request leaves behind, all services together (recordings of a 46-service system: 36 to 48)."""
LATE_LOGS = 3
"""Minutes by which some services' logs arrive late."""


Reading = tuple[int, float, float]
"""The overview of one service in one minute, as a dashboard shows it, with noise: requests per second, p95 in
milliseconds, errors in per cent with one decimal. A bare tuple: a page reads all services."""


class Gauges(NamedTuple):
    """Everything measured at one service in one minute, as a dashboard shows it: with noise."""

    minute: int
    rps: int
    p95: float
    error: float
    cpu: int
    """Per cent, as are memory, disk and slots (busy request slots and connections)."""
    memory: int
    disk: int
    slots: int
    replicas: int


class Alert(NamedTuple):
    """A rule that began to fire."""

    minute: int
    service: str
    rule: str


class LogLine(NamedTuple):
    """One line at WARN or above."""

    minute: int
    service: str
    level: str
    text: str


class Action(NamedTuple):
    """A deed of an automation agent, with the reason that it gave."""

    minute: int
    agent: str
    verb: str
    service: str
    detail: str
    reason: str


class CallStats(NamedTuple):
    """Spans of one call edge over the last minute."""

    caller: str
    callee: str
    per_request: float
    """Attempts per request that the caller handled."""
    usual: float
    """The same before the page."""
    failed: int
    """Per cent of attempts."""
    late: int
    """Per cent of the failures that were timeouts."""


Line = tuple[int, int, str, str]
"""A log line by index: (minute, service, level, text)."""
MOST_EDGES = 12
"""Failing call edges that write lines in one minute; the rest is only counted."""


STALE = 50
"""Of 256 innocent reasons, those that quote a stale figure on tiers with bluffs."""


def _factors(spread: float) -> list[float]:
    """Noise factors by byte: uniform with that relative standard deviation."""
    return [1 + 1.73 * spread * (byte - 127.5) / 127.5 for byte in range(256)]


_NOISE = {dial.noise: (_factors(dial.noise), _factors(dial.noise / 4)) for dial in TIERS.values()}
_READINGS, _GAUGES, _ALERTS, _LOGS, _REASONS, _CALLS = range(6)
_ALWAYS = ("error rate", "latency")
_RULES = ("error rate", "latency", "cpu", "memory", "disk")
_LATE_ECHO = ("overload", "heap", "lock", "pool", "wire")
_FAST_ECHO = ("handler", "lookup", "foreign", "trust", "quota")


class Telemetry:
    """The instruments of one world."""

    def __init__(self, world: World) -> None:
        self.world, self.incident, self.system = world, world.incident, world.system
        dial = self.incident.tier
        self._wide, self._fine = _NOISE[dial.noise]
        self._gap = 256 * dial.gap
        self.usual = [
            (round(load), round(P95 * latency, 1))
            for load, latency in zip(self.system.load, self.system.latency, strict=True)
        ]
        """(requests per second, p95 in ms) of each service before the page."""
        self._slow = [SLOW * latency for latency in self.system.latency]
        self._readings: tuple[int, list[Reading | None]] = (-99, [])
        self._alerts: list[tuple[int, int, str]] = []
        self._alerted = self._first_minute() - 1
        self._open: set[tuple[int, str]] = set()
        self._lines: dict[int, list[Line]] = {}
        self._reasons: dict[int, str] = {}
        self._reason_noise = self._bytes(_REASONS, 0, 7 * 128)

    def _first_minute(self) -> int:
        return min(fault.onset for fault in self.incident.faults)

    def _bytes(self, channel: int, minute: int, size: int, of: int = 0) -> bytes:
        """Observation noise of one channel, minute and subject."""
        return shake_128(self.incident.key + bytes((channel, minute + 32, of))).digest(size)

    # -- metrics ------------------------------------------------------------------------------------

    def readings(self) -> list[Reading | None]:
        """The overview of every service now; None where nothing was scraped."""
        minute = self.world.minute
        if self._readings[0] == minute:
            return self._readings[1]
        snapshot, wide, gap = self.world.snapshots[minute], self._wide, self._gap
        noise = iter(self._bytes(_READINGS, minute, 4 * self.system.size))
        rows: list[Reading | None] = []
        for load, latency, error, a, b, c, d in zip(
            snapshot.load, snapshot.latency, self._shown_errors(snapshot), noise, noise, noise, noise, strict=True
        ):
            if d < gap and rows:  # the gateway, the first, is always scraped
                rows.append(None)
                continue
            percent = int(1000 * error * wide[b] + a / 64) / 10
            rows.append((int(load * wide[a]), int(16 * latency * wide[c]) / 10, percent if percent < 100 else 100.0))
        self._readings = (minute, rows)
        return rows

    def _shown_errors(self, snapshot: Snapshot) -> list[float]:
        """Error shares as services count them: the receiver of misrouted traffic counts what it refuses."""
        receiver = self.incident.receiver
        if not (receiver and snapshot.astray):
            return snapshot.error
        errors = snapshot.error[:]
        errors[receiver] = 1 - (1 - errors[receiver]) * (1 - snapshot.astray / snapshot.load[receiver])
        return errors

    def gauges(self, service: int) -> tuple[Gauges, ...]:
        """All readings of one service: before the page (minute -9), four and two minutes ago, and now."""
        now = self.world.minute
        first = -9
        minutes = sorted({first, max(first, now - 4), max(first, now - 2), now})
        return tuple(self._gauges(service, minute) for minute in minutes)

    def _gauges(self, i: int, minute: int) -> Gauges:
        snapshot, hot = self.world.snapshots[minute], self.incident.hot
        a, b, c, d, e, f, g = self._bytes(_GAUGES, minute, 7, i)
        cpu = max(snapshot.cpu[i], hot.get((i, "cpu"), 0.0))
        slots = max(snapshot.slots[i], hot.get((i, "slots"), 0.0))
        wide, fine = self._wide, self._fine
        return Gauges(
            minute,
            int(snapshot.load[i] * wide[a]),
            int(10 * P95 * snapshot.latency[i] * wide[b]) / 10,
            min(100.0, int(1000 * self._shown_errors(snapshot)[i] * wide[c] + a / 64) / 10),
            min(100, int(100 * cpu * fine[d])),
            min(100, int(100 * snapshot.memory[i] * fine[e])),
            min(100, int(100 * snapshot.disk[i] * fine[f])),
            min(100, int(100 * slots * fine[g])),
            snapshot.replicas[i],
        )

    def calls(self, service: int) -> tuple[list[CallStats], list[CallStats], int]:
        """Outgoing and incoming calls of one service over the last minute, and requests per second from elsewhere."""
        system, snapshot = self.system, self.world.snapshots[self.world.minute]
        outgoing = [self._call(snapshot, service, k) for k in range(len(system.calls[service]))]
        incoming = []
        for caller in system.callers[service]:
            k = next(k for k, call in enumerate(system.calls[caller]) if call.callee == service)
            incoming.append(self._call(snapshot, caller, k))
        strangers = self.world.outside[service]
        if service and service == self.incident.receiver:
            strangers += snapshot.astray
        noise = self._wide[self._bytes(_CALLS, self.world.minute, 1, 255)[0]]
        return outgoing, incoming, int(strangers * noise)

    def _call(self, snapshot: Snapshot, caller: int, k: int) -> CallStats:
        call, names = self.system.calls[caller][k], self.system.names
        failed, late = next(
            ((p, late) for i, j, p, late, _ in snapshot.failing if i == caller and j == call.callee), (0.0, 0.0)
        )
        a, b, c = self._bytes(_CALLS, self.world.minute, 3, 16 * caller + k & 255)
        rate = snapshot.flow[caller][k] * snapshot.fan_out[caller]
        return CallStats(
            names[caller], names[call.callee],
            round(rate * self._fine[a], 2), round(call.rate, 2),
            min(100, round(100 * failed * self._wide[b])), min(100, round(100 * late * self._wide[c])),
        )  # fmt: skip

    # -- alerts -------------------------------------------------------------------------------------

    def alerts(self) -> list[tuple[int, int, str]]:
        """Every alert that began to fire so far: (minute, service, rule), in order."""
        for minute in range(self._alerted + 1, self.world.minute + 1):
            self._alerts += self._new_alerts(minute)
        self._alerted = self.world.minute
        return self._alerts

    def _new_alerts(self, minute: int) -> list[tuple[int, int, str]]:
        snapshot, hot = self.world.snapshots[minute], self.incident.hot
        if snapshot is self.world.snapshots[minute - 1]:
            return self._opened(minute, self._open)
        firing: set[tuple[int, str]] = set()
        i = 0
        for error, latency, slow, cpu, memory, disk in zip(
            self._shown_errors(snapshot),
            snapshot.latency,
            self._slow,
            snapshot.cpu,
            snapshot.memory,
            snapshot.disk,
            strict=True,
        ):
            if error > DEGRADED_ERROR:
                firing.add((i, "error rate"))
            if latency > slow:
                firing.add((i, "latency"))
            if cpu > 0.92:
                firing.add((i, "cpu"))
            if memory > 0.9 and (i, "memory") not in hot:
                firing.add((i, "memory"))
            if disk > 0.9 and (i, "disk") not in hot:
                firing.add((i, "disk"))
            i += 1
        return self._opened(minute, firing)

    def _opened(self, minute: int, firing: set[tuple[int, str]]) -> list[tuple[int, int, str]]:
        """Alerts that begin to fire in a minute in which those of `firing` do, false ones included."""
        dial = self.incident.tier
        opened = sorted(firing - self._open)
        self._open = firing
        if not opened and not dial.false_alert:
            return []
        noise = iter(self._bytes(_ALERTS, minute, 48)).__next__
        out = [(minute, i, rule) for i, rule in opened if rule in _ALWAYS or noise() < 256 * dial.cause_alert]
        if noise() < 256 * dial.false_alert:
            out.append((minute, noise() * self.system.size >> 8, _RULES[noise() * 5 >> 8]))
        return out

    # -- logs ---------------------------------------------------------------------------------------

    def lines(self, minute: int) -> list[Line]:
        """Lines at WARN or above that were written in a minute: (minute, service, level, text), in random order."""
        if minute not in self._lines:
            self._lines[minute] = self._write(minute)
        return self._lines[minute]

    def arrived(self, minute: int) -> list[Line]:
        """Lines of a minute that have reached the reader by now: some services are mute, some late."""
        missing = self.incident.muted
        if minute > self.world.minute - LATE_LOGS:
            missing = self.incident.unheard
        return [line for line in self.lines(minute) if line[1] not in missing]

    def log_counts(self, minute: int) -> tuple[int, int, int]:
        """Lines written at INFO, WARN and ERROR in a minute, all services together."""
        snapshot = self.world.snapshots[minute]
        info = 60 * LINES_PER_REQUEST * snapshot.load[0]
        failures = 60 * sum([calls * failed for _, _, failed, _, calls in snapshot.failing])
        return int(info), int(0.04 * info + 0.25 * failures), int(0.003 * info + 0.25 * failures)

    def _write(self, minute: int) -> list[Line]:
        incident, snapshot = self.incident, self.world.snapshots[minute]
        dial, names, part, size = incident.tier, self.system.names, incident.wording, self.system.size
        noise = iter(self._bytes(_LOGS, minute, 400)).__next__
        lines: list[tuple[int, Line]] = []

        def write(service: int, level: str, words: tuple[str, ...], callee: str = "") -> None:
            text = words[noise() * len(words) >> 8].format(n=200 + 10 * noise(), callee=callee)
            lines.append((noise(), (minute, service, level, text)))

        echo, misblame = 256 * dial.echo, 256 * dial.misblame
        for i, j, failed, late, _ in snapshot.failing[:MOST_EDGES]:
            if failed <= 0.03 or noise() >= 64 + 128 * failed:
                continue
            if noise() < misblame:
                j = 1 + (noise() * (size - 1) >> 8)
            timeout = noise() < 256 * late
            if noise() < echo:  # failures surface in callers, in callers' words
                write(i, "ERROR", SIGNATURES[(_LATE_ECHO if timeout else _FAST_ECHO)[noise() * 5 >> 8]][part])
            if timeout:
                write(i, "WARN", TIMEOUT[part], names[j])
            else:
                write(i, "ERROR", FAILED[part], names[j])
        for fault, active in zip(incident.faults, snapshot.active, strict=True):
            if active and not fault.hushed and noise() < 256 * dial.signs:
                kind = fault.mechanism.signature
                write(self._writer(fault.target, kind, noise()), "ERROR", SIGNATURES[kind][part])
        for kind, i in incident.decoys:
            if noise() < 90:
                write(i, "ERROR", SIGNATURES[kind][part])
        write(1 + (noise() * (size - 1) >> 8), "WARN", CHRONIC[part])
        lines.sort()
        return [line for _, line in lines]

    def _writer(self, target: int, kind: str, byte: int) -> int:
        """Who notices: callers when the call never arrives in good order, the receiver when it gets what is not its own."""
        if kind in ("trust", "wire"):
            callers = self.system.callers[target]
            return callers[byte * len(callers) >> 8]
        return self.incident.receiver if kind == "foreign" else target

    # -- the fleet's record ---------------------------------------------------------------------------

    def action(self, k: int) -> Action:
        """Deed number `k` of the trace, with the reason that the agent gave for it."""
        deed = self.world.trace[k]
        if k not in self._reasons:
            self._reasons[k] = self._reason(deed, k)
        return Action(
            deed.minute, deed.agent, deed.verb, self.system.names[deed.service], deed.detail, self._reasons[k]
        )

    def _reason(self, deed: Deed, k: int) -> str:
        """Innocents quote what the instruments showed the minute before; a bluffing rogue quotes what would justify it.

        On tiers with bluffs innocents sometimes quote stale figures too, so that a misquote alone proves nothing.
        """
        part, i, incident = self.incident.wording, deed.service, self.incident
        snapshot = self.world.snapshots[max(deed.minute - 1, 1 - HISTORY)]
        choice, number, blame, whom, noise, stale, _ = self._reason_noise[7 * (k & 127) : 7 * (k & 127) + 7]
        words, figure = REASONS[deed.verb][part][choice & 1]
        text = words % self._figure(
            figure, i, snapshot, noise, number, deed.bluff or (incident.tier.bluff and stale < STALE)
        )
        if deed.stuck:
            return f"{text}; {STUCK[part][blame & 1]}"
        if incident.tier.bluff and blame < 80:
            other = incident.roster[whom * len(incident.roster) >> 8]
            if other != deed.agent:
                return f"{text}; {BLAME[part][number & 1].format(agent=other, service=self.system.names[i])}"
        return text

    def _figure(self, name: str, i: int, snapshot: Snapshot, noise: int, number: int, bluff: bool) -> float:
        """The figure that a reason quotes. A bluff quotes one that would justify the deed and that telemetry contradicts;
        it stays within what innocents quote, so that the trace alone does not give it away."""
        if name == "days":
            return 2 + number % 28
        if name == "rps":
            return int(snapshot.load[i] * (0.4 if bluff else 1.0) * self._wide[noise])
        if name == "cpu":
            idle = 0.06 + 0.06 * number / 256 if self.system.kinds[i] == "service" else 0.36
            return min(100, int(100 * (idle if bluff else snapshot.cpu[i]) * self._wide[noise]))
        if name == "p95":
            return int(P95 * (0.5 * self.system.latency[i] if bluff else snapshot.latency[i]) * self._wide[noise])
        return int(1000 * (0.0 if bluff else snapshot.error[i]) * self._wide[noise] + number / 64) / 10

    # -- states ---------------------------------------------------------------------------------------

    def critical(self) -> frozenset[int]:
        """Services in a critical state now, without noise: what the cascade term counts."""
        world = self.world
        return frozenset(
            i
            for i, (error, latency, healthy) in enumerate(
                zip(world.error, world.latency, self.system.latency, strict=True)
            )
            if error > CRITICAL_ERROR or latency > VERY_SLOW * healthy
        )
