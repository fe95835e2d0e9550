"""Points as they fall, drawn as a small picture: one column a turn, one colour a term."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from warroom.episode import Step
from warroom.view.ui.form import display_name, signed

WIDE, NARROW, HEIGHT, MARGIN = 1200, 366, 118, 26
"""Of the picture, in its own units: on wide screens and on narrow ones; the page scales it."""
BAND = 7
"""Height of the band that shows whose turn it was."""
LABEL_THRESHOLD = 8.0
"""Points from which a turn has its figure above it."""


class WaterfallBar(NamedTuple):
    """What one term brought in one turn, between two totals."""

    turn: int
    seat: str
    term: int
    """Number of the term, which is its colour."""
    name: str
    low: float
    high: float
    gained: float


def bars(steps: Sequence[Step]) -> list[WaterfallBar]:
    """The falls and rises of the total, in order."""
    out: list[WaterfallBar] = []
    before, total = dict[str, float](), 0.0
    for turn, played in groupby(steps, key=lambda step: step.turn):
        last = list(played)[-1]
        for number, (name, value) in enumerate(last.points.items()):
            gained = value - before.get(name, 0.0)
            if abs(gained) > 1e-9:
                low, high = sorted((total, total + gained))
                out.append(WaterfallBar(turn, last.seat, number, name, low, high, gained))
                total += gained
        before = last.points
    return out


def picture(steps: Sequence[Step], seats: Sequence[str], budget: int, paid: bool = True) -> str:
    """The turns so far, coloured by seat, and above them what they brought, unless that may not be known (`paid`)."""
    drawn = "".join(
        f'<div class="{name}">{_drawing(steps, seats, budget, width, paid)}</div>'
        for name, width in (("wr-wide", WIDE), ("wr-narrow", NARROW))
    )
    return f'<figure class="wr-fall">{drawn}{legend(steps[-1].points if steps and paid else {})}</figure>'


def _drawing(steps: Sequence[Step], seats: Sequence[str], budget: int, width: int, paid: bool) -> str:
    column_width, height = (width - MARGIN - 2) / budget, HEIGHT if paid else BAND + 2
    shapes = _bars_svg(bars(steps), column_width, width) if paid else []
    shapes += _seat_band(steps, seats, column_width, height - BAND - 1)
    title = f"Points by turn, {signed(sum(step.points_gained for step in steps))} so far" if paid else "Turns so far"
    rail = f'x="{MARGIN}" y="{height - BAND - 1}" width="{width - MARGIN - 2}" height="{BAND}" rx="2"'
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">'
        f'<rect {rail} class="wr-rail"/>{"".join(shapes)}</svg>'
    )


def _bars_svg(drawn: Sequence[WaterfallBar], column_width: float, width: int) -> list[str]:
    low, high = min([0.0, *[bar.low for bar in drawn]]), max([0.0, *[bar.high for bar in drawn]])
    low, high = (low, high) if high - low >= 20 else (low - 5, high + 15)
    scale = (HEIGHT - BAND - 34) / (high - low)

    def y(points: float) -> float:
        return 14 + (high - points) * scale

    figures = [_figure(list(fallen), column_width, y) for _, fallen in groupby(drawn, key=lambda bar: bar.turn)]
    return [_axis(y(0), width), *[_bar(bar, column_width, y) for bar in drawn], *figures]


def legend(points: Mapping[str, float]) -> str:
    """The terms, each with its colour and its points."""
    items = "".join(
        f'<li><i style="background:var(--wr-term-{number % 8})"></i>'
        f"{escape(display_name(name))} <b>{signed(value)}</b></li>"
        for number, (name, value) in enumerate(points.items())
    )
    return f"<ul>{items}</ul>" if items else ""


def _axis(y: float, width: int) -> str:
    return (
        f'<line x1="{MARGIN}" x2="{width}" y1="{y:.1f}" y2="{y:.1f}" class="wr-axis"/>'
        f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">0</text>'
    )


def _bar(bar: WaterfallBar, column_width: float, y: Callable[[float], float]) -> str:
    x, top = MARGIN + bar.turn * column_width, y(bar.high)
    told = f"turn {bar.turn + 1}, {bar.seat}: {display_name(bar.name)} {signed(bar.gained)}"
    return (
        f'<rect x="{x + 1:.1f}" y="{top:.1f}" width="{max(2.0, column_width - 2):.1f}" '
        f'height="{max(1.5, y(bar.low) - top):.1f}" rx="1.5" fill="var(--wr-term-{bar.term % 8})">'
        f"<title>{escape(told)}</title></rect>"
    )


def _figure(fallen: Sequence[WaterfallBar], column_width: float, y: Callable[[float], float]) -> str:
    """What a turn brought in all, above its bars; nothing where it was little."""
    gained = sum(bar.gained for bar in fallen)
    if abs(gained) < LABEL_THRESHOLD:
        return ""
    x, top = MARGIN + (fallen[0].turn + 0.5) * column_width, y(max(bar.high for bar in fallen)) - 3
    return f'<text x="{x:.1f}" y="{top:.1f}" text-anchor="middle">{signed(gained)}</text>'


def _seat_band(steps: Sequence[Step], seats: Sequence[str], column_width: float, top: float) -> list[str]:
    """One block a turn in the colour of its seat; a refused call is marked."""
    out = []
    for turn, played in groupby(steps, key=lambda step: step.turn):
        calls = list(played)
        told = f"turn {turn + 1}, {calls[0].seat}: {', '.join(str(step.tool) for step in calls)}"
        mark = ' class="wr-refusal"' if any(step.refused for step in calls) else ""
        place = f'x="{MARGIN + turn * column_width + 1:.1f}" y="{top:.1f}" width="{max(2.0, column_width - 2):.1f}"'
        out.append(
            f'<rect {place} height="{BAND}" rx="2" '
            f'fill="var(--wr-seat-{seats.index(calls[0].seat)})"{mark}><title>{escape(told)}</title></rect>'
        )
    return out
