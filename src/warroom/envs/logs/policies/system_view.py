"""What all logs that were read say of each service: by its callers, and by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log, sqrt

from warroom.envs.logs.policies.keywords import CLIENT, UNFAMILIAR, class_of, is_complaint, is_job
from warroom.envs.logs.policies.likelihood import (
    HICCUPS,
    HICCUPS_OF,
    FailureEvidence,
    LatencyEvidence,
    busier,
    clamp_weight,
    excess_log_odds,
    failure_evidence,
    latency_evidence,
)
from warroom.envs.logs.views import CallLogs, Catalogue, Gauge, Pair, Pattern, ServiceLogs

JITTER = 0.14
"""Standard deviation of the logarithm by which a healthy median differs between windows, before any was seen."""
JITTER_PRIOR_WEIGHT = 3.0
"""Services that this guess is worth when those of the system at hand are counted in."""
MIN_JITTER, QUARTILE = 0.07, 0.6745
"""No system is taken to be steadier than this; and the median distance of a normal variable, in standard deviations."""
MIXED = 0.4
"""Share of it for all users together: their requests are a mix of operations that wander each by itself."""
OWN_REPORT_JITTER = 0.5
"""The same of what a service says of itself: its own background work may take longer, which no caller feels."""
MIN_CALLS_TO_CLEAR, AS_BEFORE = 20, 0.2
"""Calls from which their caller can tell that all is well, and logarithm of the factor on durations up to which."""
TIMEOUT_SHARE_LIMIT = 0.35
"""Share of calls that time out from which the median of the rest no longer tells how slow a service is."""
RETRIES = 0.3
"""Logarithm of the factor by which retries multiply the requests to a service all of whose calls fail, about."""
FEW = 12
"""Lines in a window up to which new words may be a service's own sign: those are rare."""
FLOOR, FLOOR_SHARE = 2.0, 0.1
"""Units (per cent, milliseconds) and share of its usual value that any metric may move without a word: idle ones hardly
vary, so a trifle would be many standard deviations."""
USUAL_RATE = {"service": 0.8, "db": 1.2, "cache": 1.2, "queue": 1.0, "gateway": 1.0}
"""Calls per request that a caller makes to each kind, where its logs do not tell."""


@dataclass(frozen=True)
class SystemView:
    """A view of the readings by the service that they speak of."""

    catalogue: Catalogue
    readings: Mapping[str, ServiceLogs]
    """The latest of each service."""
    earlier: Mapping[str, ServiceLogs] = field(default_factory=dict)
    """The first of those that were read twice."""
    gauges: Mapping[str, Sequence[Gauge]] = field(default_factory=dict)
    """Metrics from an overview, where a recording has them."""

    @property
    def gateway(self) -> str:
        """Where users arrive."""
        return self.catalogue.names[0]

    @cached_property
    def transitive_callers(self) -> dict[str, frozenset[str]]:
        """All services that depend on each, directly or not. Recorded systems may call in circles."""
        found: dict[str, frozenset[str]] = {}
        for name in self.catalogue.names:
            known, todo = {name}, [name]
            while todo:
                new = set(self.callers[todo.pop()]) - known
                known |= new
                todo += sorted(new)
            found[name] = frozenset(known - {name})
        return found

    @cached_property
    def callers(self) -> dict[str, tuple[str, ...]]:
        """Who calls each service."""
        return {name: self.catalogue.callers(name) for name in self.catalogue.names}

    @cached_property
    def affected_callers(self) -> dict[str, frozenset[str]]:
        """Those above each service whom trouble in it can reach: callers that see nothing of it pass nothing on."""
        found: dict[str, frozenset[str]] = {}
        for name in self.catalogue.names:
            callers = [caller for caller in self.callers[name] if not self._call_is_healthy(caller, name)]
            found[name] = frozenset(callers).union(*[self.transitive_callers[caller] for caller in callers]) - {name}
        return found

    def _call_is_healthy(self, caller: str, callee: str) -> bool:
        """Whether a caller's logs say plainly that its calls of a service are as they were."""
        return any(
            logs.service == caller
            and not logs.behind
            and row.made.now >= MIN_CALLS_TO_CLEAR
            and self._row_is_healthy(row)
            for logs, row in self.rows[callee]
        )

    def _row_is_healthy(self, row: CallLogs) -> bool:
        failing, slower = (
            failure_evidence([row.failed], [row.made]),
            latency_evidence([row.median], [row.made], self.latency_jitter),
        )
        return (failing is None or failing.weight <= 0) and (slower is None or slower.change < AS_BEFORE)

    @cached_property
    def rows(self) -> dict[str, list[tuple[ServiceLogs, CallLogs]]]:
        """(the caller's logs, the row) of all that callers say, by callee."""
        found: dict[str, list[tuple[ServiceLogs, CallLogs]]] = {name: [] for name in self.catalogue.names}
        for logs in self.readings.values():
            for row in logs.calls:
                if row.callee in found:
                    found[row.callee].append((logs, row))
        return found

    def has_logs(self, service: str) -> bool:
        """Whether a service's own logs were read and say something."""
        logs = self.readings.get(service)
        return logs is not None and logs.handled is not None

    # -- failures ---------------------------------------------------------------------------------------

    def observed_failures(self, service: str) -> FailureEvidence | None:
        """Whether calls of a service fail, by those who call it."""
        return self._observed_failures[service]

    @cached_property
    def _observed_failures(self) -> dict[str, FailureEvidence | None]:
        return {
            name: failure_evidence([row.failed for _, row in rows], [row.made for _, row in rows])
            for name, rows in self.rows.items()
        }

    def reported_failures(self, service: str) -> FailureEvidence | None:
        """Whether a service says that it fails."""
        logs = self.readings.get(service)
        if logs is None or logs.handled is None or logs.failed is None:
            return None
        return failure_evidence([logs.failed], [logs.handled])

    def own_failures(self, service: str) -> float:
        """Nats for failures of a service beyond those that its failed calls can explain: one request each at most."""
        logs = self.readings.get(service)
        if logs is None or logs.handled is None or logs.failed is None:
            return 0.0
        usual = HICCUPS * max(1.0, logs.handled.now / HICCUPS_OF)
        return clamp_weight(excess_log_odds(logs.failed.now, usual + sum(row.failed.now for row in logs.calls)))

    def late(self, service: str) -> float:
        """Share of the failed calls of a service that were timeouts, 0 to 1."""
        failed = sum(row.failed.now for _, row in self.rows[service])
        return sum(row.failed.now * row.late / 100 for _, row in self.rows[service]) / failed if failed else 0.0

    # -- durations ----------------------------------------------------------------------------------------

    @cached_property
    def latency_jitter(self) -> float:
        """By how much healthy medians differ here, from the quieter half of the services."""
        found = [sign for name in self.catalogue.names if (sign := self._estimate_latency(name, 0.0)) is not None]
        if not found:
            return JITTER
        middle = sorted(found, key=lambda sign: abs(sign.change))[(len(found) - 1) // 2]
        seen = (middle.change / QUARTILE) ** 2 - middle.variance
        mean = (JITTER_PRIOR_WEIGHT * JITTER**2 + len(found) * max(0.0, seen)) / (JITTER_PRIOR_WEIGHT + len(found))
        return max(MIN_JITTER, sqrt(mean))

    def observed_latency(self, service: str) -> LatencyEvidence | None:
        """How much longer callers wait for a service."""
        return self._observed_latencies[service]

    @cached_property
    def _observed_latencies(self) -> dict[str, LatencyEvidence | None]:
        return {name: self._estimate_latency(name, self.latency_jitter) for name in self.catalogue.names}

    def _estimate_latency(self, service: str, latency_jitter: float) -> LatencyEvidence | None:
        rows = [row for _, row in self.rows[service]]
        return latency_evidence([row.median for row in rows], [row.made for row in rows], latency_jitter)

    def reported_latency(self, service: str) -> LatencyEvidence | None:
        """How much longer a service takes by its own logs, its callees included."""
        logs = self.readings.get(service)
        if logs is None or logs.handled is None or logs.median is None:
            return None
        return latency_evidence(
            [logs.median], [logs.handled], MIXED * self.latency_jitter if service == self.gateway else OWN_REPORT_JITTER
        )

    def latency_change(self, service: str) -> LatencyEvidence | None:
        """The better of both: what callers feel, where they were read."""
        return self.observed_latency(service) or self.reported_latency(service)

    def rate(self, caller: str, callee: str) -> float:
        """Calls of `callee` per request of `caller`."""
        logs = self.readings.get(caller)
        if logs is not None and logs.handled is not None and logs.handled.before > 0:
            counts = [row.made.before for row in logs.calls if row.callee == callee]
            return sum(counts) / logs.handled.before
        return USUAL_RATE[self.catalogue.entry(callee).kind]

    def call_rates_to(self, service: str) -> dict[str, float]:
        """Calls of `service` that one request of each of those in its reach leads to, over all ways."""
        found = {service: 1.0}
        for entry in reversed(self.catalogue.entries):
            if entry.name in self.affected_callers[service]:
                found[entry.name] = sum(self.rate(entry.name, k) * found[k] for k in entry.calls if k in found)
        return found

    def latency_growth(self, service: str) -> float | None:
        """Logarithm of the factor on a service's durations since an earlier look; None if that cannot be told.

        Callers that give up see a delay no longer grow, so where most of them do, only the service itself can tell.
        """
        logs, old = self.readings.get(service), self.earlier.get(service)
        if logs is not None and old is not None and logs.median is not None and old.median is not None:
            return log(max(1.0, logs.median.now) / max(1.0, old.median.now))
        if self.callers_time_out(service):
            return None
        found = [
            log(row.median.now / old_row.median.now)
            for logs, row in self.rows[service]
            if logs.service in self.earlier
            for old_row in self.earlier[logs.service].calls
            if old_row.callee == service and min(row.median.now, old_row.median.now) > 0
        ]
        return sum(found) / len(found) if found else None

    def callers_time_out(self, service: str) -> bool:
        """Whether so many calls of a service time out that their median is the callers' patience."""
        sign = self.observed_failures(service)
        return sign is not None and sign.share * self.late(service) > TIMEOUT_SHARE_LIMIT

    # -- metrics ------------------------------------------------------------------------------------------------

    def metric_deviation(self, service: str) -> float:
        """How far a metric of a service is above its usual, in standard deviations; 0 without any."""
        logs = self.readings.get(service)
        gauges = (*self.gauges.get(service, ()), *(logs.gauges if logs is not None else ()))
        return max([(g.now - g.usual) / (g.spread + FLOOR + FLOOR_SHARE * abs(g.usual)) for g in gauges], default=0.0)

    # -- other marks ------------------------------------------------------------------------------------------

    def surge(self, service: str) -> float:
        """Logarithm of the factor by which a service handles more than callers, or users, ask of it, retries apart."""
        logs = self.readings.get(service)
        if logs is None or logs.handled is None:
            return 0.0
        asked = self._asked(service)
        failure_evidence = self.observed_failures(service)
        retried = RETRIES * failure_evidence.share if failure_evidence is not None else 0.0
        return busier(logs.handled, asked) - retried if asked is not None else 0.0

    def _asked(self, service: str) -> Pair | None:
        rows = self.rows[service]
        if len(rows) == len(self.callers[service]) and rows:
            return Pair(sum(row.made.before for _, row in rows), sum(row.made.now for _, row in rows))
        users = self.readings.get(self.gateway)
        return users.handled if users is not None and service != self.gateway else None

    def words(self, service: str) -> dict[str, float]:
        """Lines now, by class of trouble, of what a service writes about itself and did not write before.

        The class of words that are neither known nor a complaint about another service is `UNFAMILIAR`.
        """
        found: dict[str, float] = {}
        looks = (self.earlier.get(service), self.readings.get(service))
        for pattern in [pattern for logs in looks if logs is not None for pattern in logs.patterns]:
            name = class_of(pattern.text) or self._unfamiliar(service, pattern)
            if name not in (None, CLIENT) and pattern.occurrences.now > 0 and not pattern.occurrences.before:
                found[str(name)] = found.get(str(name), 0.0) + pattern.occurrences.now
        return found

    def _unfamiliar(self, service: str, pattern: Pattern) -> str | None:
        """Words of no class, unless they are about a call of another service, or too many to be a rare sign."""
        others = any(name in pattern.text for name in self.catalogue.names if name != service)
        return None if others or is_complaint(pattern.text) or pattern.occurrences.now > FEW else UNFAMILIAR

    def own_failure_share(self, service: str) -> float:
        """Share of its requests that a service says it fails, beyond its failed calls."""
        logs = self.readings.get(service)
        if logs is None or not logs.handled or logs.failed is None:
            return 0.0
        return (logs.failed.now - sum(row.failed.now for row in logs.calls)) / max(1.0, logs.handled.now)

    def started(self, service: str, jobs: bool) -> list[int]:
        """Minutes, relative to the page, in which jobs (else builds) began at a service."""
        logs = self.readings.get(service)
        return [minute for minute, what in logs.started if is_job(what) == jobs] if logs is not None else []
