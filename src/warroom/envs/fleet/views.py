"""What each seat sees: one frozen page per seat and turn, and its text. Text and structure hold the same facts."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from warroom.sim.logs import LineCounts
from warroom.sim.telemetry import Action, CallStats, FleetAlert, FleetLogLine, Gauges

SERVICE_TEXT = "%s %d(%d) %.0f(%.0f) %.1f"
ALERT_TEXT = "%+d %s %s"
COUNTS_TEXT = "log lines last minute: INFO %d WARN %d ERROR %d"
LINE_TEXT = "%+d %s %s %s"
ACTION_TEXT = "%+d %s %s %s %s (%s)"
DEPLOY_TEXT = "%+d %s %s r%d"
MESSAGE_TEXT = "%d %s: %s"
GAUGES_TEXT = "%+d %d %.0f %.1f %d %d %d %d %d"
CALL_TEXT = "%s -> %s %.2f(%.2f) %d %d"


class ServiceRow(NamedTuple):
    """The overview of one service; None where nothing was scraped in this minute."""

    service: str
    rps: int | None
    usual_rps: int
    p95: float | None
    """Milliseconds."""
    usual_p95: float
    error: float | None
    """Per cent."""


class HealthRow(NamedTuple):
    """The state of one service as the Developer sees it."""

    service: str
    state: str
    """healthy, degraded, critical or unknown."""


class Deploy(NamedTuple):
    """A person's change of a service's configuration or code."""

    minute: int
    who: str
    service: str
    revision: int


class ChatMessage(NamedTuple):
    """Something a seat said."""

    turn: int
    """Counted from 1."""
    seat: str
    text: str


@dataclass(frozen=True)
class FleetObservation:
    """A seat's page. A field is None where the seat may not look; later pages hold what is new or not well."""

    seat: str
    turn: int
    """Counted from 1."""
    budget: int
    minute: int
    """Since the page."""
    whole: bool
    """True on the seat's first page, where the SRE sees all services; later only those that are, or were, not well."""
    services: tuple[ServiceRow, ...] | None
    health: tuple[HealthRow, ...] | None
    alerts: tuple[FleetAlert, ...] | None
    log_counts: LineCounts | None
    logs: tuple[FleetLogLine, ...] | None
    actions: tuple[Action, ...] | None
    deploys: tuple[Deploy, ...] | None
    chat: tuple[ChatMessage, ...]
    answer: str | None = None
    """What the seat was answered to its last act; None before its first."""

    @classmethod
    def of(cls, **fields: Any) -> "FleetObservation":
        """A page from all its fields at once; the constructor of a frozen class sets them one by one, far slower."""
        page = object.__new__(cls)
        page.__dict__.update(fields)
        return page

    def render(self) -> str:
        """The page as text, about 400 to 1,500 characters."""
        out = [f"turn {self.turn}/{self.budget} minute {self.minute} seat {self.seat}"]
        if self.answer is not None:
            out.append(f"answer to your last act: {self.answer}")
        if self.services is not None:
            out.append(
                "service rps(usual) p95ms(usual) err%"
                if self.whole and self.seat == "sre"
                else "not well or recovered: rps(usual) p95ms(usual) err%"
            )
            out += [_row(row) for row in self.services]
        if self.health is not None:
            out.append(
                "health " + (", ".join([f"{service} {state}" for service, state in self.health]) or "all healthy")
            )
        if self.alerts:
            out.append("alerts " + ", ".join([ALERT_TEXT % alert for alert in self.alerts]))
        if self.log_counts is not None:
            out.append(COUNTS_TEXT % self.log_counts)
        if self.logs:
            out += [LINE_TEXT % line for line in self.logs]
        if self.actions:
            out.append("fleet actions")
            out += [ACTION_TEXT % action for action in self.actions]
        if self.deploys:
            out.append("colleagues' changes")
            out += [DEPLOY_TEXT % deploy for deploy in self.deploys]
        if self.chat:
            out.append("chat")
            out += [MESSAGE_TEXT % message for message in self.chat]
        return "\n".join(out)


def _row(row: ServiceRow) -> str:
    if row.error is None:
        return f"{row.service} no data"
    return SERVICE_TEXT % row


@dataclass(frozen=True, slots=True)
class MetricsResult:
    """All gauges of one service at some minutes, the first before the page."""

    service: str
    rows: tuple[Gauges, ...]

    def render(self) -> str:
        """A small table."""
        head = f"metrics of {self.service}: minute rps p95ms err% cpu% memory% disk% slots% replicas"
        return "\n".join([head, *[GAUGES_TEXT % row for row in self.rows]])


@dataclass(frozen=True, slots=True)
class LogsResult:
    """Lines at WARN or above of one service over the last minutes."""

    service: str
    lines: tuple[FleetLogLine, ...]

    def render(self) -> str:
        """One line each."""
        if not self.lines:
            return f"logs of {self.service}: no line at WARN or above arrived"
        return "\n".join([f"logs of {self.service}:", *[LINE_TEXT % line for line in self.lines]])


@dataclass(frozen=True, slots=True)
class TracesResult:
    """Spans of one service's calls over the last minute, usual values beside."""

    service: str
    outgoing: tuple[CallStats, ...]
    incoming: tuple[CallStats, ...]
    outside: int
    """Requests per second from clients that no trace knows."""

    def render(self) -> str:
        """One call edge a line."""
        head = f"traces of {self.service}: call, attempts per request (usual), failed %, of them timeouts %"
        rows = [CALL_TEXT % call for call in (*self.outgoing, *self.incoming)]
        return "\n".join([head, *rows, f"from unknown clients {self.outside} rps"])


@dataclass(frozen=True, slots=True)
class RecordResult:
    """Everything that one agent did so far."""

    agent: str
    actions: tuple[Action, ...]

    def render(self) -> str:
        """One action a line."""
        if not self.actions:
            return f"record of {self.agent}: nothing"
        return "\n".join([f"record of {self.agent}:", *[ACTION_TEXT % action for action in self.actions]])


@dataclass(frozen=True, slots=True)
class ChangesResult:
    """Every change that people made to one service."""

    service: str
    deploys: tuple[Deploy, ...]

    def render(self) -> str:
        """One change a line."""
        if not self.deploys:
            return f"changes of {self.service}: none by colleagues"
        return "\n".join([f"changes of {self.service}:", *[DEPLOY_TEXT % deploy for deploy in self.deploys]])


class Link(NamedTuple):
    """One edge of the service map."""

    caller: str
    callee: str
    rate: float
    """Calls per request."""
    needed: bool
    """Whether the caller's request fails when the call fails."""
    deadline: int
    """Milliseconds."""


@dataclass(frozen=True, slots=True)
class ServiceMap:
    """The static facts of an incident that every seat may know."""

    services: tuple[tuple[str, str, int], ...]
    """(name, kind, usual replicas), callers before callees."""
    calls: tuple[Link, ...]
    agents: tuple[tuple[str, str], ...]
    """(agent, its verb)."""

    def render(self) -> str:
        """Two short tables."""
        out = {name: f"{name} ({kind} x{replicas}) ->" for name, kind, replicas in self.services}
        for caller, callee, rate, needed, deadline in self.calls:
            out[caller] += f" {callee}{'' if needed else '?'} x{rate:.1f} {deadline}ms"
        agents = ", ".join([f"{agent} ({verb})" for agent, verb in self.agents])
        return "\n".join(["Service map (kind x replicas -> callee x calls per request, deadline; ? = can do without):",
                          *out.values(), f"Automation agents: {agents}"])  # fmt: skip
