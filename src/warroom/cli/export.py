"""`warroom export`."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from warroom.cli import heavy
from warroom.cli.options import RunFolder, ScenarioFiles, load_scenario_files
from warroom.cli.output import say
from warroom.core.checks import check_choice
from warroom.episode import Episode
from warroom.evals.export import OPENAI, TRL, write_csv, write_messages
from warroom.runs import read_episodes


class ExportFormat(StrEnum):
    """What an export is written as."""

    CSV = "csv"
    PARQUET = "parquet"
    MESSAGES = "messages"
    TRL = "trl"


STYLES = {ExportFormat.MESSAGES: OPENAI, ExportFormat.TRL: TRL}
"""How conversations are written."""


def export_command(
    run: RunFolder,
    *,
    out: Annotated[Path, typer.Option(help="The file to write.")],
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="csv or parquet: a row per episode. messages: a line of JSON per seat and episode, its conversation "
            "with tools in the format of the OpenAI API, for fine-tuning. trl: the same for TRL and chat templates, as "
            "models that `warroom train` trains see it.",
        ),
    ] = "csv",
    least_score: Annotated[
        float | None,
        typer.Option(help="Leave out episodes with a lower score, such as 0.8 to fine-tune on good play only."),
    ] = None,
    reasons: Annotated[
        bool,
        typer.Option(
            "--reasons",
            help="With messages and trl: calls that the expert would make too say why, with the figures that it used.",
        ),
    ] = False,
    scenario_file: ScenarioFiles = None,
) -> None:
    """Write the episodes of a run as a table, or as conversations to fine-tune a model on.

    Example: warroom export runs/hard --format messages --out hard.jsonl
    """
    load_scenario_files(scenario_file)
    episodes = [one for one in read_episodes(run) if least_score is None or one.score >= least_score]
    if not episodes and least_score is not None:
        raise ValueError(f"no episode of {run} has a score of {least_score:g} or more; lower --least-score")
    write = _writer(format_, reasons)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        count = write(episodes, out)
    except OSError as error:
        raise ValueError(f"cannot write {out}: {error.strerror or error}; choose another --out") from error
    say(f"{count} {'conversations' if format_ in STYLES else 'episodes'} -> {out}")


def _writer(name: str, reasons: bool) -> Callable[[Iterable[Episode], Path], int]:
    check_choice("format", name, [one.value for one in ExportFormat])
    if reasons and name not in STYLES:
        raise ValueError(f"--reasons is for --format {' and '.join(STYLES)}, got {name}")
    match ExportFormat(name):
        case ExportFormat.CSV:
            return write_csv
        case ExportFormat.PARQUET:
            return heavy.parquet.write_parquet
        case ExportFormat.MESSAGES | ExportFormat.TRL:
            return partial(write_messages, style=replace(STYLES[ExportFormat(name)], reasons=reasons))
