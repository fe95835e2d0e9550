"""What several commands share: options, output, and the words of a caller's error."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from warroom.cli import heavy
from warroom.core.errors import UnknownName
from warroom.core.scenario import TIERS
from warroom.core.splits import parse_split
from warroom.evals.plan import split_commas
from warroom.sim.recording import read_archive
from warroom.sim.service_topology import load_service_topology

SHAPES = ("document", "drawn")
"""Systems that are asked for by name; every other name is that of a file."""

RunFolder = Annotated[Path, typer.Argument(help="A run folder.")]
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


def _as_typed(value: Any) -> Any:
    """What the environment itself checks."""
    return value


def _multiplier(value: float) -> float:
    if not 0 < value < float("inf"):
        raise ValueError(f"the rogue multiplier must be a number above 0, got {value}")
    return value


def _topology(name: str) -> str:

    named = name.partition(":")[0] in SHAPES and not Path(name).exists()
    return name if named else load_service_topology(Path(name)).to_json()


def _archive(folder: Path) -> str:

    # Absolute, so that a replay finds it from wherever it is started.
    return str(read_archive(folder.resolve()).folder)


def _knowledge(folder: Path) -> str:

    heavy.knowledge.load_knowledge(folder)
    return str(folder.resolve())


def _axis(name: str) -> str:

    return parse_split(name).value


READ: dict[str, Callable[[Any], Any]] = {
    "rogue_multiplier": _multiplier, "topology": _topology, "recording": _archive, "kb": _knowledge,
    "names": _axis, "wording": _axis,
}  # fmt: skip
"""How an option is read that is more than its own text."""


def tiers_of(text: str) -> tuple[str, ...]:
    """The tiers of a comma-separated list, refused before anything is played."""
    found = tuple(dict.fromkeys(split_commas(text)))
    for tier in found or ("",):
        if tier not in TIERS:
            raise UnknownName("tier", tier, TIERS)
    return found
