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

RunFolder = Annotated[Path, typer.Argument(help="Run folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
Tier = Annotated[str, typer.Option(help="Difficulty: easy, medium or hard.")]
Split = Annotated[str, typer.Option(help="Split of incidents: train, dev or test. Publish test results only.")]
Topology = Annotated[
    str | None,
    typer.Option(
        help="System to play on: a file of `warroom import topology`; for logs also drawn, or drawn:N for N services."
    ),
]
Recordings = Annotated[
    Path | None,
    typer.Option("--recording", help="Play recorded incidents: a folder of `warroom import incidents`."),
]
RogueMultiplier = Annotated[
    float | None,
    typer.Option(help="Scales the points for a rogue agent caught and for a false positive. Default: 1.0."),
]
Mode = Annotated[
    str | None,
    typer.Option(help="Tickets: multi (search, open, submit; the default) or single (documents come with the ticket)."),
]
Calibration = Annotated[float | None, typer.Option(help="Tickets: scales the points for calibration. Default: 1.0.")]
Quality = Annotated[str | None, typer.Option(help="Tickets: metric of answer quality, facts (the default) or rouge_l.")]
Articles = Annotated[
    int | None, typer.Option(help="Tickets: articles in the knowledge base, 20 to 5000. Default: depends on the tier.")
]
Judge = Annotated[
    str | None,
    typer.Option(
        help="Tickets: LLM judge, as MODEL@URL of a chat completions server. Reported next to the score, never part "
        "of it. Its API key is read from WARROOM_JUDGE_KEY."
    ),
]
Knowledge = Annotated[
    Path | None, typer.Option("--kb", help="Play your own tickets: a knowledge base filled by `warroom import`.")
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
