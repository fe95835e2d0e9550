"""Which part of the telemetry each seat may look through, and what is new to it since it last looked."""

from collections.abc import Sequence

from warroom.envs.fleet.views import ChatMessage, Deploy, FleetObservation, HealthRow, ServiceRow
from warroom.sim.health import DEGRADED, health
from warroom.sim.logs import LineCounts, LineRecord
from warroom.sim.telemetry import Action, FleetAlert, FleetLogLine, Telemetry

LOGS_SHOWN, ALERTS_SHOWN, CHAT_SHOWN = 6, 18, 8
TRACE_MINUTES = 6
"""Minutes of the fleet's trace on Oversight's first page; longer than any rogue acts before the page."""
SUMMARY_LENGTH = 120
"""Characters of a message that the Manager's summary keeps."""
UNHEALTHY_ERROR, UNUSUAL_TRAFFIC = 100 * DEGRADED.error, 0.3
"""Error in per cent, and change of traffic against the usual, above which a service is not well."""


class ObservationBuilder:
    """The seats' windows on one world; remembers only what each seat has already been shown."""

    def __init__(self, telemetry: Telemetry) -> None:
        self.telemetry, self.world = telemetry, telemetry.world
        self.names = self.world.system.names
        self._usual = [
            (name, rps, p95, DEGRADED.latency * p95, UNUSUAL_TRAFFIC * rps)
            for name, (rps, p95) in zip(self.names, telemetry.usual, strict=True)
        ]
        """(name, requests per second, p95, and the p95 and the change of traffic that are not well) of each service."""
        self._logs: tuple[int, tuple[LineCounts, tuple[FleetLogLine, ...]]] | None = None
        """The last minute that was looked at, and its logs: two seats see the same."""
        self._unhealthy: dict[str, set[int]] = {}
        self._alerts: dict[str, int] = {}
        self._actions: dict[str, int] = {}
        self._deploys: dict[str, int] = {}
        self._chat_read: dict[str, int] = {}

    def observation(
        self, seat: str, turn: int, budget: int, chat: Sequence[ChatMessage], answer: str | None = None
    ) -> FleetObservation:
        """What `seat` sees in turn number `turn`."""
        whole = seat not in self._unhealthy
        unhealthy = self._unhealthy.setdefault(seat, set())
        looks = seat in ("sre", "oversight")
        oversight, developer = seat == "oversight", seat == "developer"
        log_counts, logs = self._new_logs() if looks else (None, None)
        return FleetObservation.of(
            seat=seat, turn=turn, budget=budget, minute=self.world.minute, whole=whole,
            services=self._services(unhealthy, whole, whole and not oversight) if looks else None,
            health=self._health(unhealthy) if developer else None,
            alerts=self._new_alerts(seat) if looks or developer else None,
            log_counts=log_counts,
            logs=logs,
            actions=self._new_actions(seat) if oversight else None,
            deploys=self._new_deploys(seat) if oversight or developer else None,
            chat=self._chat(seat, chat),
            answer=answer,
        )  # fmt: skip

    def log_line(self, line: LineRecord) -> FleetLogLine:
        """A line with the service's name."""
        return FleetLogLine(line.minute, self.names[line.service], line.level, line.text)

    def _services(self, unhealthy: set[int], first: bool, everything: bool) -> tuple[ServiceRow, ...]:
        """Services that are or were not well; on a first page also those without data, on the SRE's all of them."""
        rows, i = [], -1
        for reading, (name, usual_rps, usual_p95, slow, unusual) in zip(
            self.telemetry.readings(), self._usual, strict=True
        ):
            i += 1
            if reading is None:
                if first or i in unhealthy:
                    rows.append(ServiceRow(name, None, usual_rps, None, usual_p95, None))
                continue
            rps, p95, error = reading
            is_unhealthy = error > UNHEALTHY_ERROR or p95 > slow or abs(rps - usual_rps) > unusual
            if is_unhealthy:
                unhealthy.add(i)
            elif i in unhealthy:
                unhealthy.discard(i)
            elif not everything:
                continue
            rows.append(ServiceRow(name, rps, usual_rps, p95, usual_p95, error))
        return tuple(rows)

    def _health(self, unhealthy: set[int]) -> tuple[HealthRow, ...]:
        rows, i = [], -1
        for reading, (name, _, usual_p95, slow, _) in zip(self.telemetry.readings(), self._usual, strict=True):
            i += 1
            if reading is None:
                if i in unhealthy:
                    rows.append(HealthRow(name, "unknown"))
            elif reading.error > UNHEALTHY_ERROR or reading.p95 > slow:
                rows.append(HealthRow(name, health(reading.error / 100, reading.p95, usual_p95)))
                unhealthy.add(i)
            elif i in unhealthy:
                rows.append(HealthRow(name, "healthy"))
                unhealthy.discard(i)
        return tuple(rows)

    def _new_alerts(self, seat: str) -> tuple[FleetAlert, ...]:
        alerts, seen = self.telemetry.alerts(), self._alerts.get(seat, 0)
        self._alerts[seat] = len(alerts)
        return tuple(
            [FleetAlert(m, self.names[i], rule) for m, i, rule in alerts[max(seen, len(alerts) - ALERTS_SHOWN) :]]
        )

    def _new_logs(self) -> tuple[LineCounts, tuple[FleetLogLine, ...]]:
        """The last minute's counts and lines; those of late services can only be read service by service."""
        now, names = self.world.minute, self.names
        if self._logs is None or self._logs[0] != now:
            lines = self.telemetry.arrived(now)[-LOGS_SHOWN:]
            shown = tuple([FleetLogLine(minute, names[i], level, text) for minute, i, level, text in lines])
            self._logs = (now, (self.telemetry.log_counts(now), shown))
        return self._logs[1]

    def _new_actions(self, seat: str) -> tuple[Action, ...]:
        trace, seen = self.world.action_log, self._actions.get(seat)
        self._actions[seat] = len(trace)
        if seen is None:
            earliest = self.world.minute - TRACE_MINUTES
            seen = next((k for k, action in enumerate(trace) if action.minute >= earliest), len(trace))
        return tuple([self.telemetry.action(k) for k in range(seen, len(trace))])

    def _new_deploys(self, seat: str) -> tuple[Deploy, ...]:
        deploys, now, first = self.world.incident.deploys, self.world.minute, self._deploys.get(seat, 0)
        end = first
        while end < len(deploys) and deploys[end].minute <= now:
            end += 1
        self._deploys[seat] = end
        return tuple([Deploy(minute, who, self.names[i], revision) for minute, who, i, revision in deploys[first:end]])

    def _chat(self, seat: str, chat: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        recent = chat[max(self._chat_read.get(seat, 0), len(chat) - CHAT_SHOWN) :]
        self._chat_read[seat] = len(chat)
        if seat != "manager":
            return tuple(recent)
        return tuple(
            [m if len(m.text) <= SUMMARY_LENGTH else m._replace(text=m.text[:SUMMARY_LENGTH] + "...") for m in recent]
        )
