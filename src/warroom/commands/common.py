"""What several commands share: options, output, and the words of a caller's error."""

import json
import shlex
import sys
from collections.abc import Callable, Collection, Iterator
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
Mode = Annotated[
    str | None,
    typer.Option(help="Of tickets: multi (search, open, submit: the default) or single (documents come with it)."),
]
Calibration = Annotated[
    float | None, typer.Option(help="Of tickets: multiplies the points of calibration. Default 1.0.")
]
Quality = Annotated[
    str | None, typer.Option(help="Of tickets: what quality is paid by, facts (the default) or rouge_l.")
]
Articles = Annotated[
    int | None, typer.Option(help="Of tickets: size of the knowledge base, 20 to 5000. Default: by tier.")
]
Judge = Annotated[
    str | None,
    typer.Option(
        help="Of tickets: MODEL@URL of a server of chat completions whose opinion is reported beside the score, never "
        "in it; its key is WARROOM_JUDGE_KEY."
    ),
]
Knowledge = Annotated[
    Path | None, typer.Option("--kb", help="Tickets of your own: a knowledge base that `warroom import` filled.")
]


def options_of(**given: Any) -> dict[str, Any]:
    """Options for building incidents, read from what was typed: only those that were given."""
    return {name: READ.get(name, _as_typed)(value) for name, value in given.items() if value is not None}


def check_options(env: str, options: Collection[str]) -> None:
    """Refuse an option of another environment, and name the one that it is for."""
    from warroom.envs import environments

    known = environments()
    for option in options if env in known else ():
        owners = [name for name, environment in known.items() if option in environment.options.declared()]
        if env not in owners:
            flag = f"--{option.replace('_', '-')}"
            raise ValueError(f"no option {option!r} in {env}: {flag} is for --env {' or '.join(owners)}")


def _as_typed(value: Any) -> Any:
    """What the environment itself checks."""
    return value


def _multiplier(value: float) -> float:
    if not 0 < value < float("inf"):
        raise ValueError(f"the rogue multiplier must be a number above 0, got {value}")
    return value


def _topology(name: str) -> str:
    from warroom.sim.service_topology import load_service_topology

    named = name.partition(":")[0] in SHAPES and not Path(name).exists()
    return name if named else load_service_topology(Path(name)).to_json()


def _archive(folder: Path) -> str:
    from warroom.sim.recording import read_archive

    # Absolute, so that a replay finds it from wherever it is started.
    return str(read_archive(folder.resolve()).folder)


def _knowledge(folder: Path) -> str:
    from warroom.envs.tickets.storage import load_knowledge

    load_knowledge(folder)
    return str(folder.resolve())


def _axis(name: str) -> str:
    from warroom.core.splits import parse_split

    return parse_split(name).value


READ: dict[str, Callable[[Any], Any]] = {
    "rogue_multiplier": _multiplier, "topology": _topology, "recording": _archive, "kb": _knowledge,
    "names": _axis, "wording": _axis,
}  # fmt: skip
"""How an option is read that is more than its own text."""


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
