"""What a reading of one service's metrics finds: its last minutes, whose requests come to harm, parts and series."""

from dataclasses import dataclass
from typing import NamedTuple

from warroom.sim.metrics import BREAKDOWN_HEAD, BreakdownReading, MetricMinute, render_breakdown, render_minutes
from warroom.sim.series import STEP
from warroom.sim.service_state import PartState
from warroom.sim.wording.forms import clock


class SeriesRow(NamedTuple):
    """The values of one series, a value every five minutes."""

    metric: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsFacts:
    """One service as its instruments show it now."""

    service: str
    first: int
    """Minute of the day of the first of `minutes`."""
    minutes: tuple[MetricMinute, ...]
    load: float
    """Requests per second that were sent to it in the last minute: what the formulas of the handbook use."""
    capacity: float | None
    """Requests per second that a store can serve; None for any other service."""
    breakdowns: tuple[tuple[str, tuple[BreakdownReading, ...]], ...]
    """The requests of the latest minutes by each attribute."""
    parts: tuple[PartState, ...]
    part_texts: tuple[str, ...]
    series_from: int
    """Second of the day of the first value of the series."""
    series: tuple[SeriesRow, ...]

    @property
    def step(self) -> int:
        """Seconds between two values of a series."""
        return STEP

    def render(self) -> str:
        """Four blocks."""
        bears = f", can serve {self.capacity:g}/s" if self.capacity is not None else ""
        out = [
            render_minutes(self.service, self.first, self.minutes),
            f"load now {self.load:g} requests/s{bears}",
            BREAKDOWN_HEAD,
            *[render_breakdown(attribute, rows) for attribute, rows in self.breakdowns],
        ]
        if self.part_texts:
            out += ["parts", *self.part_texts]
        out.append(f"series, a value every {STEP // 60} minutes from {clock(self.series_from)}")
        return "\n".join([*out, *[f"{row.metric}: " + " ".join([f"{v:g}" for v in row.values]) for row in self.series]])
