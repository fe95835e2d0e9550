"""An episode at the terminal: a live board where there is a screen, a plain transcript where there is none."""

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, runtime_checkable

from rich.columns import Columns
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
    "healthy": "green",
    "unknown": "dim",
    "no data": "dim",
}
"""Words that colour a panel's line, the first that it holds."""
LONGEST_SHOWN = 14
"""Lines of a seat's page where the environment has no panels of its own."""


@runtime_checkable
class Boarded(Protocol):
    """An environment that says itself what its board shows."""

    def board(self) -> dict[str, list[str]]:
        """Lines by panel title."""
        ...


def panels(env: Env, step: Step | None) -> dict[str, list[str]]:
    """The panels of the moment: the environment's own, else what the last seat was shown."""
    if isinstance(env, Boarded):
        return env.board()
    return {} if step is None else {step.seat: step.shown.splitlines()[:LONGEST_SHOWN]}


def call_text(step: Step) -> str:
    """A call as one writes it: `restart service=cart`."""
    arguments = " ".join(f"{name}={value}" for name, value in step.arguments.items())
    return f"{step.tool} {arguments}".strip()


def step_line(step: Step) -> str:
    """A call with its answer and its points, on one line."""
    answer = " ".join(step.result.split())
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
        """Panels of the environment, points by term, and the last calls."""
        step = self.calls[-1] if self.calls else None
        shown = [_panel(title, lines) for title, lines in panels(env, step).items()]
        below = Columns([points_table(step.points if step else {}), self._last_calls(env)], expand=False)
        title = f"{env.scenario}  {env.tier}  turn {env.turn} of {env.budget}"
        return Panel(Group(_grid(shown, self.console.width), below), title=title, border_style="blue")

    def _last_calls(self, env: Env) -> Panel:
        rows = [
            Text(step_line(s), style=_seat_color(env, s.seat), overflow="ellipsis", no_wrap=True) for s in self.calls
        ]
        return Panel(Group(*rows[-8:]), title="calls", width=max(40, self.console.width - 36))


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
    table = Table(title="points", box=None, title_justify="left", padding=(0, 1))
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


def _grid(shown: list[Panel], width: int) -> Table:
    """Two panels beside one another where the screen is wide enough."""
    across = 2 if width >= 100 else 1
    grid = Table.grid(expand=True)
    for _ in range(across):
        grid.add_column(ratio=1)
    for start in range(0, len(shown), across):
        grid.add_row(*shown[start : start + across])
    return grid


def _seat_color(env: Env, seat: str) -> str:
    return SEAT_COLORS[env.SEATS.index(seat) % len(SEAT_COLORS)] if seat in env.SEATS else ""
