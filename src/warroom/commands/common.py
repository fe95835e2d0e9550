"""What several commands share: options, output, and the words of a caller's error."""

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

SHAPES = ("document", "drawn")
"""Systems that are asked for by name; every other name is that of a file."""
PLAIN_WIDTH = 160
"""Columns of a table that no screen shows."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, for a program to read.")]
Tier = Annotated[str, typer.Option(help="How hard: easy, medium or hard.")]
Split = Annotated[str, typer.Option(help="Whose incidents: train, dev or test. Publish numbers of test only.")]
Topology = Annotated[
    str | None,
    typer.Option(
        help="Another system: a file of `warroom import topology`; for logs also drawn, or drawn:N with N services."
    ),
]
Recordings = Annotated[
    Path | None,
    typer.Option("--recording", help="Incidents that were recorded: a folder of `warroom import incidents`."),
]
RogueMultiplier = Annotated[
    float | None,
    typer.Option(help="Scales the points of a caught rogue and of a false positive. Default 1.0."),
]


def options_of(rogue_multiplier: float | None, topology: str | None, recording: Path | None = None) -> dict[str, Any]:
    """Options for building incidents: only those that were given."""
    from warroom.sim.blueprint import load_blueprint
    from warroom.sim.recording import read_archive

    options: dict[str, Any] = {}
    if rogue_multiplier is not None:
        if not 0 < rogue_multiplier < float("inf"):
            raise ValueError(f"the rogue multiplier must be a number above 0, got {rogue_multiplier}")
        options["rogue_multiplier"] = rogue_multiplier
    if topology is not None:
        named = topology.partition(":")[0] in SHAPES and not Path(topology).exists()
        options["topology"] = topology if named else load_blueprint(Path(topology)).to_json()
    if recording is not None:
        # Absolute, so that a replay finds it from wherever it is started.
        options["recording"] = str(read_archive(recording.resolve()).folder)
    return options


def command_line(*more: str) -> str:
    """The command as it was typed, and what should be added."""
    return shlex.join(["warroom", *sys.argv[1:], *more])


def print_json(data: Any) -> None:
    """Print data for a program."""
    print(json.dumps(data, indent=1))


def console() -> "Console":
    """Where people read tables; a pipe gets them whole."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=PLAIN_WIDTH)


def say(text: str, color: str | None = None) -> None:
    """A line for the person at the terminal, apart from the output."""
    typer.secho(text, fg=color, err=True)


@contextmanager
def progress(what: str, planned: int, already: int = 0) -> Iterator[Callable[[int], None]]:
    """A bar on a screen, nothing elsewhere; yields what is to be called with the number just done."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    with Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=planned, completed=already)
        yield lambda count: bar.advance(task, count)
