"""Arguments and flags that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from warroom.core.errors import UnknownName
from warroom.core.scenario import TIERS
from warroom.evals.plan import split_commas

RunFolder = Annotated[Path, typer.Argument(help="Run folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
Tier = Annotated[str, typer.Option(help="Difficulty: easy, medium or hard.")]
Split = Annotated[str, typer.Option(help="Split of incidents: train, dev or test. Publish test results only.")]


def tiers_of(text: str) -> tuple[str, ...]:
    """The tiers of a comma-separated list, refused before anything is played."""
    found = tuple(dict.fromkeys(split_commas(text)))
    for tier in found or ("",):
        if tier not in TIERS:
            raise UnknownName("tier", tier, TIERS)
    return found
