"""What a scripted seat knows: its pages, its readings, and those that others passed on. Nothing else reaches it."""

import re
from collections.abc import Iterable

from warroom.core.types import Observation
from warroom.envs.fleet.brief import ServiceMap
from warroom.envs.fleet.metrics_facts import MetricsFacts
from warroom.envs.fleet.pages import FleetObservation
from warroom.envs.fleet.readings import (
    AlertFacts,
    ApprovalFacts,
    Arrival,
    CalendarFacts,
    CharterFacts,
    ChatMessage,
    Content,
    DiffFacts,
    Facts,
    LedgerRow,
    Reading,
    RecordFacts,
    RunningFacts,
)
from warroom.sim.alerts import Alert
from warroom.sim.log_search import LogMatches
from warroom.sim.overview import OverviewRow
from warroom.sim.records import Approval, Charter, Freeze
from warroom.sim.traces import TraceReading

_SEEN = re.compile(r"seen ([\d.]+) %;")


class Knowledge:
    """Facts by what they are about, the latest last."""

    def __init__(self, facts: ServiceMap) -> None:
        self.map = facts
        self.kinds = {service.name: service.kind for service in facts.services}
        self.page: FleetObservation | None = None
        self.overview: dict[str, OverviewRow] = {}
        self.alerts: dict[tuple[str, str, int], Alert] = {}
        self.metrics: dict[str, MetricsFacts] = {}
        """The latest reading of each service."""
        self.series: dict[tuple[str, str], dict[int, float]] = {}
        """Values by (service, metric), then by second."""
        self.logs: dict[tuple[str, str], LogMatches] = {}
        self.traces: dict[str, TraceReading] = {}
        self.rows: dict[int, LedgerRow] = {}
        self.records: set[str] = set()
        """Subjects whose ledger was read."""
        self.charters: dict[str, Charter] = {}
        self.contents: dict[int, Content] = {}
        self.arrivals: dict[int, Arrival] = {}
        self.running: set[str] = set()
        self.approvals: dict[str, tuple[Approval, ...]] = {}
        self.calendar: tuple[Freeze, ...] | None = None
        self.chat: list[ChatMessage] = []
        self.first_victim: str | None = None
        """The place that alerts pointed to when it was first seen."""

    def add(self, observation: Observation) -> None:
        """Take in a page or a reading."""
        if isinstance(observation, FleetObservation):
            self._add_page(observation)
        elif isinstance(observation, Reading):
            self._add_facts(observation.facts)

    def _add_page(self, page: FleetObservation) -> None:
        self.page = page
        for row in page.overview or ():
            self.overview[row.service] = row
        self._add_alerts(page.alerts or ())
        self.first_victim = self.first_victim or self.victim()
        for message in page.chat:
            self.chat.append(message)
            for reading in message.readings:
                self._add_facts(reading.facts)

    def _add_alerts(self, alerts: Iterable[Alert]) -> None:
        for alert in alerts:
            self.alerts[alert.service, alert.rule, alert.since] = alert

    def _add_facts(self, facts: Facts) -> None:
        match facts:
            case MetricsFacts():
                self._add_metrics(facts)
            case RecordFacts():
                self.records.add(facts.subject)
                self.rows |= {row.id: row for row in facts.rows}
            case CharterFacts():
                self.charters[facts.charter.agent] = facts.charter
            case DiffFacts():
                self.contents[facts.content.id] = facts.content
            case RunningFacts():
                self.running.add(facts.service)
                self.arrivals |= {arrival.change: arrival for arrival in facts.arrivals}
            case ApprovalFacts():
                self.approvals[facts.service] = facts.approvals
            case CalendarFacts():
                self.calendar = facts.freezes
            case TraceReading():
                self.traces[facts.service] = facts
            case AlertFacts():
                self._add_alerts(facts.alerts)

    def _add_metrics(self, facts: MetricsFacts) -> None:
        self.metrics[facts.service] = facts
        for metric, values in facts.series:
            known = self.series.setdefault((facts.service, metric), {})
            known |= {facts.series_from + facts.step * k: value for k, value in enumerate(values)}

    # -- what follows at once ---------------------------------------------------------------------------

    def callees(self, service: str) -> list[str]:
        """The services that a service calls."""
        return [call.callee for call in self.map.calls if call.caller == service]

    def callers(self, service: str) -> list[str]:
        """The services that call a service."""
        return [call.caller for call in self.map.calls if call.callee == service]

    def firing(self) -> dict[str, float]:
        """Services with an error alert that fires, with its value in percent."""
        return {a.service: a.value for a in self.alerts.values() if a.rule == "ErrorShare" and a.resolved is None}

    def victim(self) -> str | None:
        """The service where requests come to harm: one in alarm that calls no other in alarm."""
        firing = self.firing()
        deep = [service for service in firing if not any(callee in firing for callee in self.callees(service))]
        return max(deep, key=lambda service: firing[service], default=None)

    def places(self, victim: str) -> set[str]:
        """Services whose changes may hurt the requests of a place: itself, and caches in front of a store."""
        caches = [caller for caller in self.callers(victim) if self.kinds[caller] == "cache"]
        return {victim, *caches}

    def harmed_share(self, victim: str) -> float | None:
        """Share of the requests sent to a service that come to harm, as alerts and traces say."""
        values = [a.value for a in self.alerts.values() if a.rule == "ErrorShare" and a.service == victim]
        said = [float(m[1]) for message in self.chat if (m := _SEEN.search(message.text))]
        return next((value / 100 for value in [*reversed(values), *reversed(said)]), None)

    @property
    def is_concealing(self) -> bool:
        """Whether rows of the ledger contradict what is running, or readings are so scarce that they may."""
        return self.map.readings <= 2
