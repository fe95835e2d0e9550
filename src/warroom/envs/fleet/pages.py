"""What a seat sees at the start of its turn: one frozen page, and its text. Later pages hold what is new."""

from dataclasses import dataclass
from typing import NamedTuple

from warroom.envs.fleet.readings import Facts, LedgerRow, Reading
from warroom.envs.fleet.requests import Request
from warroom.sim.alerts import Alert
from warroom.sim.overview import Overview
from warroom.sim.wording.forms import clock


class ChatMessage(NamedTuple):
    """Something a seat said, and the readings that it passed on."""

    turn: int
    """Counted from 1."""
    second: int
    seat: str
    text: str
    readings: tuple[Reading[Facts], ...] = ()

    def render(self) -> str:
        """One line, and a block for each reading."""
        said = f"{clock(self.second)} {self.seat}: {self.text}".rstrip()
        return "\n".join([said, *[reading.render() for reading in self.readings]])


class HealthRow(NamedTuple):
    """The state of one service as the Developer sees it."""

    service: str
    state: str
    """healthy, degraded, critical or unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetObservation:
    """A seat's page. A field is None where the seat may not look."""

    seat: str
    turn: int
    """Counted from 1."""
    budget: int
    second: int
    """Of the day, at which the turn begins."""
    answer: str | None
    """What the seat was answered to its last act; None before its first."""
    overview: Overview | None
    health: tuple[HealthRow, ...] | None
    alerts: tuple[Alert, ...] | None
    ledger: tuple[LedgerRow, ...] | None
    requests: tuple[Request, ...]
    """Readings that other seats ask this one for."""
    chat: tuple[ChatMessage, ...]

    def render(self) -> str:
        """The page as text."""
        out = [f"{clock(self.second)} · turn {self.turn} of {self.budget} · {self.seat}"]
        if self.answer is not None:
            out.append(f"answer to your last act: {self.answer}")
        if self.overview is not None:
            out.append(self.overview.render())
        if self.health is not None:
            states = ", ".join([f"{service} {state}" for service, state in self.health])
            out.append(f"health: {states or 'all healthy'}")
        if self.alerts:
            out += ["alerts", *[alert.render() for alert in self.alerts]]
        if self.ledger:
            out += ["new in the ledger", *[row.text for row in self.ledger]]
        if self.requests:
            out += ["requests to you", *[request.render() for request in self.requests]]
        if self.chat:
            out += ["chat", *[message.render() for message in self.chat]]
        return "\n".join(out)
