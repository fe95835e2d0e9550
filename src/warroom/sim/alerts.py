"""Alerts with a life: a rule fires once its value has been beyond the limit for some minutes, and resolves after it.

Whatever an alert says is read from the same counts as every other telling of its minutes. Silencing mutes an alert and
leaves it firing; who did it, and until when, is part of it.
"""

from math import fsum
from typing import Literal, NamedTuple

from warroom.sim.counts import HELD_UP, P95, MinuteCounts
from warroom.sim.log_search import minute_text
from warroom.sim.overview import percent
from warroom.sim.service_world import ServiceMinute

Rule = Literal["ErrorShare", "Latency"]
RULES: tuple[Rule, ...] = ("ErrorShare", "Latency")
ERROR_LIMIT = 5.0
"""Percent of the requests sent to a service that do their senders no good."""
LATENCY_LIMIT = 2.5
"""Limit on the 95th percentile of latency, as a multiple of the usual one."""
_SUSPECT = 0.7
"""Part of a limit that a rule's value must come to without noise, lest noise take it beyond."""
FOR_MINUTES = 2
"""Minutes beyond the limit after which a rule fires, and below it after which it resolves."""


class Silence(NamedTuple):
    """Somebody muted a rule at a service."""

    service: int
    rule: Rule
    begins: int
    until: int
    """Minutes of the day; the last is excluded."""
    by: str


class Alert(NamedTuple):
    """One alert from when it began to fire. Minutes are those of the day."""

    service: str
    rule: Rule
    since: int
    resolved: int | None
    """None while it fires."""
    value: float
    """The latest value that was measured while it fired; for one that is resolved, the highest."""
    limit: float
    silence: Silence | None
    """The silence in force."""

    def render(self) -> str:
        """One line of the list."""
        unit = "%" if self.rule == "ErrorShare" else "ms"
        state = f"FIRING since {minute_text(self.since)}"
        if self.resolved is not None:
            state = f"RESOLVED, fired {minute_text(self.since)} to {minute_text(self.resolved)}"
        elif self.silence is not None:
            state = f"SILENCED until {minute_text(self.silence.until)} by {self.silence.by}, {state.lower()}"
        limit = f"limit {self.limit:.0f} {unit} for {FOR_MINUTES} min"
        return f"{state} {self.service} {self.rule} {self.value:.1f} {unit} ({limit})"


class AlertBook:
    """The alerts of a world, worked out minute by minute as they are asked for."""

    def __init__(self, counts: MinuteCounts) -> None:
        self.counts, self.system = counts, counts.system
        self._silences: list[Silence] = []

    def silence(self, silence: Silence) -> None:
        """Mute a rule at a service for some minutes."""
        self._silences.append(silence)

    def at(self, minute: int, first: int) -> tuple[Alert, ...]:
        """All alerts that fired at some time from `first` up to `minute`, in order of beginning."""
        found: list[Alert] = []
        trouble = self.counts.world.trouble_from
        if trouble is None or trouble > minute:
            return ()
        begin = max(first, trouble - 1)
        world = self.counts.world
        played = {id(m): m for m in map(world.at, range(begin, minute + 1))}
        for service, rule in sorted(set().union(*map(self._suspects, played.values()))):
            found += self._life(service, rule, begin, minute)
        return tuple(sorted(found, key=lambda alert: (alert.since, alert.service, alert.rule)))

    def _suspects(self, played: ServiceMinute) -> set[tuple[int, Rule]]:
        """The rules that may be beyond their limits in such a minute, whatever the noise."""
        found: set[tuple[int, Rule]] = set()
        for i, (latency, usual) in enumerate(zip(played.swept.latency, self.system.latency, strict=True)):
            shares = [self.counts.shares(played, place) for place in self.counts.incoming(i)]
            if max([fsum(share) for share in shares]) > _SUSPECT * ERROR_LIMIT / 100:
                found.add((i, "ErrorShare"))
            late = max([share.late for share in shares])
            if latency > _SUSPECT * LATENCY_LIMIT * usual or late > _SUSPECT * HELD_UP:
                found.add((i, "Latency"))
        return found

    def _life(self, service: int, rule: Rule, first: int, last: int) -> list[Alert]:
        limit, found = self._limit(service, rule), []
        beyond, below, since, values = 0, 0, None, [0.0]
        for minute in range(first, last + 1):
            value = self._value(minute, service, rule)
            if value is None:
                continue
            beyond, below = (beyond + 1, 0) if value > limit else (0, below + 1)
            if since is None and beyond >= FOR_MINUTES:
                since, values = minute, []
            if since is not None and beyond:
                values.append(value)
            if since is not None and below >= FOR_MINUTES:
                found.append(Alert(self.system.names[service], rule, since, minute, max(values), limit, None))
                since = None
        if since is not None:
            silence = self._silence_of(service, rule, last)
            found.append(Alert(self.system.names[service], rule, since, None, values[-1], limit, silence))
        return found

    def _limit(self, service: int, rule: Rule) -> float:
        return ERROR_LIMIT if rule == "ErrorShare" else round(LATENCY_LIMIT * P95 * self.system.latency[service], 1)

    def _value(self, minute: int, service: int, rule: Rule) -> float | None:
        """What the rule looks at; None where nothing was scraped."""
        if not self.counts.scraped(minute, service):
            return None
        if rule == "Latency":
            return round(self.counts.p95(minute, service), 1)
        calls = [self.counts.call(minute, place) for place in self.counts.incoming(service)]
        return percent(sum([call.failed for call in calls]), sum([call.attempts for call in calls]))

    def _silence_of(self, service: int, rule: Rule, minute: int) -> Silence | None:
        for silence in reversed(self._silences):
            if (silence.service, silence.rule) == (service, rule) and silence.begins <= minute < silence.until:
                return silence
        return None
