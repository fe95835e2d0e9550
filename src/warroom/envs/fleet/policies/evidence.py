"""What a seat has seen and read so far, by service: the memory of a scripted policy."""

from dataclasses import dataclass, field

from warroom.core.types import Observation
from warroom.envs.fleet.views import (
    ChatMessage,
    Deploy,
    FleetObservation,
    LogsResult,
    MetricsResult,
    ServiceMap,
    ServiceRow,
    TracesResult,
)
from warroom.sim.health import health
from warroom.sim.telemetry import Action, FleetAlert, FleetLogLine, Gauges


@dataclass(slots=True)
class Evidence:
    """Everything one seat knows. Readings are kept with the minute they were taken in."""

    map: ServiceMap
    minute: int = 0
    turn: int = 0
    rows: dict[str, ServiceRow] = field(default_factory=dict)
    """The latest page's services that are not well, or on the SRE's first page all."""
    alerts: list[FleetAlert] = field(default_factory=list)
    lines: list[FleetLogLine] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    deploys: list[Deploy] = field(default_factory=list)
    chat: list[ChatMessage] = field(default_factory=list)
    gauges: dict[str, tuple[int, tuple[Gauges, ...]]] = field(default_factory=dict)
    traces: dict[str, tuple[int, TracesResult]] = field(default_factory=dict)
    kinds: dict[str, str] = field(init=False)
    callees: dict[str, list[str]] = field(init=False)
    callers: dict[str, list[str]] = field(init=False)
    needed: set[tuple[str, str]] = field(init=False)
    """(caller, callee) of calls that the caller cannot do without."""

    def __post_init__(self) -> None:
        self.kinds = {name: kind for name, kind, _ in self.map.services}
        self.callees = {name: [c.callee for c in self.map.calls if c.caller == name] for name in self.kinds}
        self.callers = {name: [c.caller for c in self.map.calls if c.callee == name] for name in self.kinds}

        self.needed = {(c.caller, c.callee) for c in self.map.calls if c.needed}

    def add(self, observation: Observation) -> None:
        """Remember a page or a reading."""
        if isinstance(observation, FleetObservation):
            self._add_page(observation)
        elif isinstance(observation, MetricsResult):
            self.gauges[observation.service] = (self.minute, observation.rows)
        elif isinstance(observation, TracesResult):
            self.traces[observation.service] = (self.minute, observation)
        elif isinstance(observation, LogsResult):
            self.lines += [line for line in observation.lines if line not in self.lines]

    def _add_page(self, page: FleetObservation) -> None:
        self.minute, self.turn = page.minute, page.turn
        self.rows = {row.service: row for row in page.services or ()}
        self.alerts += page.alerts or ()
        self.lines += [line for line in page.logs or () if line not in self.lines]
        self.actions += page.actions or ()
        self.deploys += page.deploys or ()
        self.chat += [message for message in page.chat if message not in self.chat]

    def forget_readings(self) -> None:
        """Drop what was read before the world changed."""
        self.gauges.clear()
        self.traces.clear()

    def unhealthy(self) -> list[str]:
        """Services in trouble on the latest page, worst errors first."""
        bad = [row for row in self.rows.values() if is_unhealthy(row)]
        return [row.service for row in sorted(bad, key=lambda row: (-(row.error or 0.0), row.service))]

    def onsets(self, service: str) -> set[int]:
        """Minutes in which an error or latency alert began to fire on a service."""
        return {a.minute for a in self.alerts if a.service == service and a.rule in ("error rate", "latency")}


def is_unhealthy(row: ServiceRow) -> bool:
    """Whether a row shows errors or latency well above the usual."""
    return (
        row.error is not None and row.p95 is not None and health(row.error / 100, row.p95, row.usual_p95) != "healthy"
    )
