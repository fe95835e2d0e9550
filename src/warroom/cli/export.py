"""`warroom export`."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from warroom.cli import heavy
from warroom.cli.options import RunFolder, ScenarioFiles, load_scenario_files
from warroom.cli.output import say
from warroom.core.errors import UnknownName
from warroom.episode import Episode
from warroom.evals.export import write_csv, write_messages
from warroom.runs import read_episodes


class ExportFormat(StrEnum):
    """What an export is written as."""

    CSV = "csv"
    PARQUET = "parquet"
    MESSAGES = "messages"


def export_command(
    run: RunFolder,
    out: Annotated[Path, typer.Option(help="The file to write.")],
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="csv or parquet: a row per episode. messages: a line of JSON per seat and episode, its conversation "
            "with tools in the format of the OpenAI API, for fine-tuning.",
        ),
    ] = "csv",
    scenario_file: ScenarioFiles = None,
) -> None:
    """Write the episodes of a run as a table, or as conversations to fine-tune a model on.

    Example: warroom export runs/hard --format messages --out hard.jsonl
    """
    load_scenario_files(scenario_file)
    count = _writer(format_)(read_episodes(run), out)
    say(f"{count} {'conversations' if format_ == ExportFormat.MESSAGES else 'episodes'} -> {out}")


def _writer(name: str) -> Callable[[Iterable[Episode], Path], int]:
    if name not in list(ExportFormat):
        raise UnknownName("format", name, [one.value for one in ExportFormat])
    writers = {ExportFormat.CSV: write_csv, ExportFormat.MESSAGES: write_messages}
    return writers[ExportFormat(name)] if name != ExportFormat.PARQUET else heavy.parquet.write_parquet
