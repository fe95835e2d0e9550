"""How much services write in a minute, as expected counts that follow from the world; never as text.

A user request leaves some 41 lines in all services together, and a failed call a line or none, by the caller's habit:
so the share of errors is as low as in recordings. Everything is a pure function of the minute's snapshot.
"""

from hashlib import shake_128
from math import exp
from typing import NamedTuple

from warroom.core.rng import hash_bytes
from warroom.envs.logs.incident import BEFORE, BEHIND, LogsIncident
from warroom.envs.logs.normal import count
from warroom.envs.logs.signatures import Texts
from warroom.envs.logs.views import ALL, WINDOW, Level, Pair
from warroom.sim.snapshot import Snapshot
from warroom.sim.world import World

LINES = {"gateway": 6, "service": 10, "db": 4, "cache": 4, "queue": 4}
"""Lines per handled request: 41 for a user request of the default system (recordings have 36 to 48)."""
WARNED = 0.5
"""Warnings that a failed call leaves besides, at the caller."""
HICCUPS = 0.002
"""Share of calls that fail in a healthy system."""
SILENCED = 0.6
"""Share of the lines of its failed requests that a crashing service does not write."""
OWN_ERRORS = 0.5
"""Lines at ERROR for each of its own failures that a root writes, if it speaks of them at all."""
LEVELS, SERVICE, SIGNS, VOLUME, TAIL = range(5)
"""Channels of observation noise."""


class Written(NamedTuple):
    """Lines of one service in one minute, as expected."""

    lines: float
    warnings: float
    errors: float


class LogWindow(NamedTuple):
    """A stretch of minutes of one service's log."""

    first: int
    last: int
    behind: int
    """Minutes by which its lines are late."""


class Stream:
    """The log stream of one world."""

    def __init__(self, incident: LogsIncident, world: World) -> None:
        self.incident, self.world, self.system = incident, world, incident.system
        self.total = 41 * 60 * incident.sampling_rate * self.system.load[0]
        """Lines of the whole system in a usual minute."""
        self._written: dict[int, list[Written]] = {}
        self._named: dict[tuple[int, int], bool] = {}

    def noise(self, channel: int, minute: int, of: int, size: int) -> bytes:
        """Observation noise of one channel, minute and subject."""
        return shake_128(self.incident.key + bytes((channel, minute + 32, of))).digest(size)

    # -- how much is written ------------------------------------------------------------------------

    def written(self, minute: int) -> list[Written]:
        """What every service writes in a minute."""
        found = self._written.get(minute)
        if found is None:
            found = self._written[minute] = self._write(minute)
        return found

    def _write(self, minute: int) -> list[Written]:
        incident, system, snapshot = self.incident, self.system, self.world.snapshots[minute]
        kept = 60 * incident.sampling_rate
        errors, warnings = [0.0] * system.size, [0.0] * system.size
        for i, _, share, _, calls in snapshot.failing:
            failures = kept * calls * share
            warnings[i] += WARNED * failures
            if incident.failure_log_levels[i] == "ERROR":
                errors[i] += failures
            elif incident.failure_log_levels[i] == "WARN":
                warnings[i] += failures
        for i, share, _ in incident.chronic:
            errors[i] += self.total * share
        noisy = incident.noisy_service
        if noisy is not None and minute >= noisy.since:
            errors[noisy.service] += self.total * noisy.share
        lines = [kept * load * LINES[kind] for load, kind in zip(snapshot.load, system.kinds, strict=True)]
        self._own_failures(snapshot, lines, errors)
        return [
            Written(line + error + warning, line * nuisance + warning, error)
            for line, warning, error, nuisance in zip(lines, warnings, errors, incident.nuisance, strict=True)
        ]

    def _own_failures(self, snapshot: Snapshot, lines: list[float], errors: list[float]) -> None:
        """Roots fall silent where workers die, and may tell of their own failures."""
        for fault, active in zip(self.incident.faults, snapshot.active, strict=True):
            i, failing = fault.target, fault.mechanism.failing_share(fault)
            if not active or not failing:
                continue
            if self.incident.reports_own_errors:
                errors[i] += OWN_ERRORS * 60 * self.incident.sampling_rate * snapshot.load[i] * failing
            if fault.mechanism.mutes_victim:
                lines[i] *= 1 - SILENCED * failing

    def volume(self) -> Level:
        """Lines of the whole system in the last minute, and in one of the window before."""
        noise, rows = self.noise(VOLUME, self.world.minute, 0, 6), []
        for minute in (BEFORE, self.world.minute):
            written = self.written(minute)
            rows.append([sum(column) for column in zip(*written, strict=True)])
        pairs = [
            Pair(count(a, noise[2 * k]), count(b, noise[2 * k + 1])) for k, (a, b) in enumerate(zip(*rows, strict=True))
        ]
        return Level(ALL, *pairs)

    def window(self, service: int) -> LogWindow:
        """The minutes of "now" as one service's lines show them."""
        behind = BEHIND if service in self.incident.behind else 0
        last = self.world.minute - behind
        return LogWindow(last - WINDOW + 1, last, behind)

    def level(self, service: int) -> Level:
        """How much a service writes, before and now."""
        name = self.system.names[service]
        if service in self.incident.missing:
            return Level(name, None, None, None)
        first, last, _ = self.window(service)
        before = self.written(BEFORE)[service]
        now = [self.written(minute)[service] for minute in range(first, last + 1)]
        noise = self.noise(LEVELS, last, service, 6)
        return Level(name, *[
            Pair(count(WINDOW * before[k], noise[2 * k]), count(sum([row[k] for row in now]), noise[2 * k + 1]))
            for k in range(3)
        ])  # fmt: skip

    # -- how services speak ---------------------------------------------------------------------------

    def duration(self, service: int, minute: int, latency: float) -> float:
        """A latency as the lines of that minute show it: healthy medians wander."""
        return latency * exp(self.incident.latency_jitter(service, minute))

    def names_callee(self, caller: int, callee: int) -> bool:
        """Whether a caller's complaints name whom they are about: a habit of its code."""
        named = self._named.get((caller, callee))
        if named is None:
            chance = hash_bytes(1, caller, "names", callee, self.incident.key.hex())[0]
            named = self._named[caller, callee] = chance >= 256 * self.incident.tier_config.unnamed_callee_share
        return named

    def wording(self, texts: Texts, service: int, number: int = 0) -> str:
        """The wording that a service uses for a class of lines: one code base, one wording."""
        choice = texts[self.incident.wording]
        return choice[(self.incident.key[service & 15] + number) % len(choice)]
