"""An episode at the terminal: a live board where there is a screen, a plain transcript where there is none."""

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from textwrap import shorten
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from warroom.core.env import Env
from warroom.core.episode import Episode, Step
from warroom.core.types import Turn

SEAT_COLORS = ("cyan", "magenta", "green", "yellow")
TONES = {
    "critical": "bold red",
    "degraded": "yellow",
    "unknown": "dim",
    "no data": "dim",
    "healthy": "green",
}
"""Words that colour a panel's line, the first that it holds."""
WIDE = 100
"""Columns from which panels stand in pairs."""
LAST_CALLS = 6
"""Calls that the board shows."""
LONGEST_ANSWER = 100
"""Characters of an answer on its line."""
LONGEST_SHOWN = 14
"""Lines of a seat's page where the environment has no panels of its own."""


def panels(env: Env, step: Step | None) -> dict[str, list[str]]:
    """Lines by panel title: the environment's own `board()` if it has one, else what the last seat was shown."""
    own: Callable[[], dict[str, list[str]]] | None = getattr(env, "board", None)
    if own is not None:
        return own()
    return {} if step is None else {step.seat: step.shown.splitlines()[:LONGEST_SHOWN]}


def call_text(step: Step) -> str:
    """A call as one writes it: `restart service=cart`."""
    arguments = " ".join(f"{name}={value}" for name, value in step.arguments.items())
    return f"{step.tool} {arguments}".strip()


def step_line(step: Step) -> str:
    """A call with its answer and its points, on one line; a long answer shows its beginning."""
    answer = shorten(step.result, LONGEST_ANSWER, placeholder=" …")
    points = f"  [{step.reward:+.0f}]" if step.reward else ""
    return f"{step.turn + 1:>3} {step.seat:<9} {call_text(step)}  ->  {answer}{points}"


class Board:
    """A live picture of one episode; give `watch` to the episode loop."""

    def __init__(self, console: Console, pause: float) -> None:
        self.console, self.pause = console, pause
        """Seconds between two calls, so that a person can follow."""
        self.live = Live(console=console, auto_refresh=False, transient=True)
        self.calls: list[Step] = []

    def __enter__(self) -> "Board":
        self.live.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.live.stop()

    def watch(self, env: Env, step: Step, turn: Turn) -> None:
        """Show the incident as it is after a call."""
        self.calls.append(step)
        self.live.update(self.picture(env), refresh=True)
        time.sleep(self.pause)

    def picture(self, env: Env) -> RenderableType:
        """Panels of the environment, points by term, and the last calls, all within the screen."""
        step = self.calls[-1] if self.calls else None
        found = panels(env, step)
        across = 2 if self.console.width >= WIDE else 1
        rows = -(-len(found) // across)
        room = max(3, (self.console.height - LAST_CALLS - 4) // max(1, rows) - 2)
        shown = [_panel(title, fitted(lines, room)) for title, lines in found.items()]
        below = Table.grid(expand=True)
        below.add_column(width=26)
        below.add_column(ratio=1)
        below.add_row(Panel(points_table(step.points if step else {}), title="points"), self._last_calls(env))
        title = f"{env.scenario}  {env.tier}  turn {env.turn} of {env.budget}"
        return Panel(Group(_grid(shown, across), below), title=title, border_style="blue")

    def _last_calls(self, env: Env) -> Panel:
        last = self.calls[-LAST_CALLS:]
        rows = [Text(step_line(s), style=_seat_color(env, s.seat), overflow="ellipsis", no_wrap=True) for s in last]
        return Panel(Group(*rows), title="calls", title_align="left")


class Transcript:
    """The same as lines of text."""

    def __init__(self, write: Callable[[str], object] = print) -> None:
        self.write = write

    def watch(self, env: Env, step: Step, turn: Turn) -> None:
        """Write one line per call."""
        self.write(step_line(step))


def watching(console: Console, live: bool, pause: float) -> AbstractContextManager[Board | Transcript]:
    """A board on a screen, else a transcript."""
    return Board(console, pause) if live else nullcontext(Transcript())


def is_screen() -> bool:
    """Whether a person watches: both ends of the terminal are there."""
    return sys.stdout.isatty() and sys.stdin.isatty()


def closing(episode: Episode) -> RenderableType:
    """What came of it: points by term, outcome, and what it truly was."""
    return Group(
        Text(f"\n{episode.scenario} {episode.tier}, seed {episode.seed}, played by {episode.policy}", style="bold"),
        points_table(episode.points | {"total": episode.total}),
        _facts("outcome", {**episode.outcome, "score": round(episode.score, 2)}),
        _facts("truth", episode.truth),
    )


def points_table(points: dict[str, float]) -> Table:
    """Points by term."""
    table = Table(box=None, padding=(0, 1), show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, value in points.items():
        style = "bold" if name == "total" else "green" if value > 0 else "red" if value < 0 else "dim"
        table.add_row(name, f"{value:+.0f}" if value else "0", style=style)
    return table


def _facts(title: str, facts: dict[str, Any]) -> Text:
    shown = ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in facts.items() if value is not None)
    return Text.assemble((f"{title}: ", "bold"), shown)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _panel(title: str, lines: list[str]) -> Panel:
    rows = [Text(line, style=_tone(line), overflow="ellipsis", no_wrap=True) for line in lines]
    return Panel(Group(*rows) if rows else Text("nothing", style="dim"), title=title, title_align="left")


def _tone(line: str) -> str:
    return next((style for word, style in TONES.items() if word in line), "")


def fitted(lines: list[str], room: int) -> list[str]:
    """At most `room` lines: the worst by their tone, then the latest, in their own order."""
    if len(lines) <= room:
        return lines
    worst = list(TONES.values())

    def rank(i: int) -> tuple[int, int]:
        tone = _tone(lines[i])
        return worst.index(tone) if tone in worst else len(worst), -i

    kept = sorted(sorted(range(len(lines)), key=rank)[: room - 1])
    return [lines[i] for i in kept] + [f"... and {len(lines) - len(kept)} more"]


def _grid(shown: list[Panel], across: int) -> Table:
    grid = Table.grid(expand=True)
    for _ in range(across):
        grid.add_column(ratio=1)
    for start in range(0, len(shown), across):
        grid.add_row(*shown[start : start + across])
    return grid


def _seat_color(env: Env, seat: str) -> str:
    return SEAT_COLORS[env.SEATS.index(seat) % len(SEAT_COLORS)] if seat in env.SEATS else ""
