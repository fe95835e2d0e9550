"""What instruments report of a world: metrics, alerts, logs, call traces and the fleet's record.

Everything is a pure function of (snapshot of the minute, key of the incident): no look depends on which looks came
before it, and a minute reads the same late as early, whatever people have repaired in between.
"""

from functools import cached_property
from hashlib import shake_128
from typing import NamedTuple

from warroom.sim import logs, reasons
from warroom.sim.automation import detail
from warroom.sim.health import ALERT, health
from warroom.sim.incident import HISTORY, TIERS
from warroom.sim.logs import LineCounts, LineRecord
from warroom.sim.reasons import P95
from warroom.sim.snapshot import Snapshot
from warroom.sim.world import World

FULL_CPU, FULL = 0.92, 0.9
"""Utilisation of processors, and of memory and disks, from which their alerts fire."""
LATE_LOGS = 3
"""Minutes by which some services' logs arrive late."""


class OverviewReading(NamedTuple):
    """The overview of one service in one minute, as a dashboard shows it: with noise."""

    rps: int
    """Requests per second."""
    p95: float
    """Milliseconds."""
    error: float
    """Per cent, with one decimal."""


class AlertRecord(NamedTuple):
    """A rule that began to fire at a service."""

    minute: int
    service: int
    rule: str


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


class FleetAlert(NamedTuple):
    """A rule that began to fire."""

    minute: int
    service: str
    rule: str


class FleetLogLine(NamedTuple):
    """One line at WARN or above."""

    minute: int
    service: str
    level: str
    text: str


class Action(NamedTuple):
    """An action of an automation agent, with the reason that it gave."""

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


class ServiceCalls(NamedTuple):
    """The calls of one service over the last minute."""

    outgoing: tuple[CallStats, ...]
    incoming: tuple[CallStats, ...]
    external: int
    """Requests per second from elsewhere."""


def _factors(spread: float) -> list[float]:
    """Noise factors by byte: uniform with that relative standard deviation."""
    return [1 + 1.73 * spread * (byte - 127.5) / 127.5 for byte in range(256)]


_NOISE = {config.noise: (_factors(config.noise), _factors(config.noise / 4)) for config in TIERS.values()}
_READINGS, _GAUGES, _ALERTS, _LOGS, _REASONS, _CALLS, _FALSE = range(7)
_ALWAYS = ("error rate", "latency")
_RULES = ("error rate", "latency", "cpu", "memory", "disk")


class Telemetry:
    """The instruments of one world."""

    def __init__(self, world: World) -> None:
        self.world, self.incident, self.system = world, world.incident, world.system
        config = self.incident.tier
        self._wide, self._fine = _NOISE[config.noise]
        self._gap = 256 * config.gap
        self.usual = [
            (round(load), round(P95 * latency, 1))
            for load, latency in zip(self.system.load, self.system.latency, strict=True)
        ]
        """(requests per second, p95 in ms) of each service before the page."""
        self._slow = [ALERT.latency * latency for latency in self.system.latency]
        self._readings: tuple[int, list[OverviewReading | None]] = (-99, [])
        self._alerts: list[AlertRecord] = []
        self._alerted = 1 - HISTORY
        self._open: set[tuple[int, str]] = set()
        self._levels: tuple[list[float], list[float]] = ([], [])
        self._full: list[tuple[int, str]] = []
        self._lines: dict[int, list[LineRecord]] = {}
        self._actions: dict[int, Action] = {}

    def _bytes(self, channel: int, minute: int, size: int, of: int = 0) -> bytes:
        """Observation noise of one channel, minute and subject."""
        return shake_128(self.incident.key + bytes((channel, minute + 32, of))).digest(size)

    # -- metrics ------------------------------------------------------------------------------------

    def readings(self) -> list[OverviewReading | None]:
        """The overview of every service now; None where nothing was scraped."""
        minute = self.world.minute
        if self._readings[0] == minute:
            return self._readings[1]
        snapshot, wide, gap = self.world.snapshots[minute], self._wide, self._gap
        noise = iter(self._bytes(_READINGS, minute, 4 * self.system.size))
        rows: list[OverviewReading | None] = []
        for load, latency, error, a, b, c, d in zip(
            snapshot.load, snapshot.latency, self._observed_errors(snapshot), noise, noise, noise, noise, strict=True
        ):
            if d < gap and rows:  # the gateway, the first, is always scraped
                rows.append(None)
                continue
            percent = int(1000 * error * wide[b] + a / 64) / 10
            rows.append(OverviewReading(int(load * wide[a]), int(16 * latency * wide[c]) / 10, min(100.0, percent)))
        self._readings = (minute, rows)
        return rows

    def _observed_errors(self, snapshot: Snapshot) -> list[float]:
        """Error shares as services count them: the receiver of misrouted traffic counts what it refuses."""
        receiver = self.incident.receiver
        if not (receiver and snapshot.dropped_load):
            return snapshot.error
        errors = snapshot.error[:]
        errors[receiver] = 1 - (1 - errors[receiver]) * (1 - snapshot.dropped_load / snapshot.load[receiver])
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
            min(100.0, int(1000 * self._observed_errors(snapshot)[i] * wide[c] + a / 64) / 10),
            min(100, int(100 * cpu * fine[d])),
            min(100, int(100 * snapshot.memory[i] * fine[e])),
            min(100, int(100 * snapshot.disk[i] * fine[f])),
            min(100, int(100 * slots * fine[g])),
            snapshot.replicas[i],
        )

    def calls(self, service: int) -> ServiceCalls:
        """The calls of one service over the last minute."""
        system, snapshot = self.system, self.world.snapshots[self.world.minute]
        outgoing = [self._call(snapshot, service, k) for k in range(len(system.calls[service]))]
        incoming = []
        for caller in system.callers[service]:
            k = next(k for k, call in enumerate(system.calls[caller]) if call.callee == service)
            incoming.append(self._call(snapshot, caller, k))
        external = self.world.external_load[service]
        if service and service == self.incident.receiver:
            external += snapshot.dropped_load
        noise = self._wide[self._bytes(_CALLS, self.world.minute, 1, 255)[0]]
        return ServiceCalls(tuple(outgoing), tuple(incoming), int(external * noise))

    def _call(self, snapshot: Snapshot, caller: int, k: int) -> CallStats:
        call, names = self.system.calls[caller][k], self.system.names
        failed, late = next(
            ((p, late) for i, j, p, late, _ in snapshot.failing if i == caller and j == call.callee), (0.0, 0.0)
        )
        a, b, c = self._bytes(_CALLS, self.world.minute, 3, 16 * caller + k & 255)
        rate = snapshot.attempts[self.system.link_ranges[caller][0] + k] * snapshot.fan_out[caller]
        return CallStats(
            names[caller], names[call.callee],
            round(rate * self._fine[a], 2), round(call.rate, 2),
            min(100, round(100 * failed * self._wide[b])), min(100, round(100 * late * self._wide[c])),
        )  # fmt: skip

    # -- alerts -------------------------------------------------------------------------------------

    def alerts(self) -> list[AlertRecord]:
        """Every alert that began to fire so far, in order."""
        for minute in range(self._alerted + 1, self.world.minute + 1):
            self._alerts += self._new_alerts(minute)
        self._alerted = self.world.minute
        return self._alerts

    def _new_alerts(self, minute: int) -> list[AlertRecord]:
        snapshot = self.world.snapshots[minute]
        if snapshot is self.world.snapshots[minute - 1]:
            return self._opened(minute, self._open)
        firing = set(self._filled(snapshot.memory, snapshot.disk))
        i = 0
        for error, latency, slow, cpu in zip(
            self._observed_errors(snapshot), snapshot.latency, self._slow, snapshot.cpu, strict=True
        ):
            if error > ALERT.error:
                firing.add((i, "error rate"))
            if latency > slow:
                firing.add((i, "latency"))
            if cpu > FULL_CPU:
                firing.add((i, "cpu"))
            i += 1  # noqa: SIM113  (enumerate would cost a tuple for each service)
        return self._opened(minute, firing)

    def _filled(self, memory: list[float], disk: list[float]) -> list[tuple[int, str]]:
        """Memories and disks that are full and not always so; looked up anew only once a level has changed."""
        if memory != self._levels[0] or disk != self._levels[1]:
            hot = self.incident.hot
            filled = [(i, "memory") for i, level in enumerate(memory) if level > FULL and (i, "memory") not in hot]
            filled += [(i, "disk") for i, level in enumerate(disk) if level > FULL and (i, "disk") not in hot]
            self._levels, self._full = (memory, disk), filled
        return self._full

    def _opened(self, minute: int, firing: set[tuple[int, str]]) -> list[AlertRecord]:
        """Alerts that begin to fire in a minute in which those of `firing` do, false ones included."""
        opened = sorted(firing - self._open) if firing is not self._open else []
        self._open = firing
        begin = 3 * (minute + HISTORY)
        chance, where, rule = self._false_noise[begin : begin + 3]
        out = self._configured(minute, opened) if opened else []
        if chance < 256 * self.incident.tier.false_alert:
            out.append(AlertRecord(minute, where * self.system.size >> 8, _RULES[rule * 5 >> 8]))
        return out

    def _configured(self, minute: int, opened: list[tuple[int, str]]) -> list[AlertRecord]:
        """Those of the rules that fire whose alert is set up at all: cause-level ones seldom are."""
        noise = iter(self._bytes(_ALERTS, minute, 48)).__next__
        rare = 256 * self.incident.tier.cause_alert
        return [AlertRecord(minute, i, rule) for i, rule in opened if rule in _ALWAYS or noise() < rare]

    @cached_property
    def _false_noise(self) -> bytes:
        """Three bytes a minute: whether an alert fires about nothing, where, and by which rule."""
        return self._bytes(_FALSE, 0, 3 * (HISTORY + self.incident.tier.budget + 4))

    # -- logs ---------------------------------------------------------------------------------------

    def lines(self, minute: int) -> list[LineRecord]:
        """Lines at WARN or above that were written in a minute, in random order."""
        if minute not in self._lines:
            noise = self._bytes(_LOGS, minute, logs.NOISE)
            self._lines[minute] = logs.write_lines(self.incident, self.world.snapshots[minute], minute, noise)
        return self._lines[minute]

    def arrived(self, minute: int) -> list[LineRecord]:
        """Lines of a minute that have reached the reader by now: some services are mute, some late."""
        missing = self.incident.services_without_logs
        if minute > self.world.minute - LATE_LOGS:
            missing = self.incident.services_missing_lines
        return [line for line in self.lines(minute) if line.service not in missing]

    def log_counts(self, minute: int) -> LineCounts:
        """Lines written at INFO, WARN and ERROR in a minute, all services together."""
        snapshot = self.world.snapshots[minute]
        return logs.count_lines(snapshot.load[0], snapshot.failing)

    # -- the fleet's record ---------------------------------------------------------------------------

    def action(self, k: int) -> Action:
        """Action number `k` of the record, with the agent's reason for it, which quotes the minute before."""
        known = self._actions.get(k)
        if known is not None:
            return known
        record = self.world.action_log[k]
        minute, agent, verb, i, argument, before, _ = record
        past = self.world.snapshots[minute - 1 if minute > 1 - HISTORY else minute]
        begin = reasons.NOISE * (k & 127)
        reason_text = reasons.reason(
            self.incident, record, past, self._reason_noise[begin : begin + reasons.NOISE], self._wide
        )
        self._actions[k] = action = Action(
            minute, agent, verb, self.system.names[i], detail(verb, argument, before), reason_text
        )
        return action

    @cached_property
    def _reason_noise(self) -> bytes:
        return self._bytes(_REASONS, 0, reasons.NOISE * 128)


def critical(world: World) -> frozenset[int]:
    """Services in a critical state now, without noise: what the cascade term counts."""
    return frozenset(
        i
        for i, (error, latency, healthy) in enumerate(
            zip(world.error, world.latency, world.system.latency, strict=True)
        )
        if health(error, latency, healthy) == "critical"
    )
