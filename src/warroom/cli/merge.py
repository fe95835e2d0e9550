"""`warroom merge`."""

from pathlib import Path
from typing import Annotated

import typer

from warroom.cli import heavy
from warroom.cli.options import Json
from warroom.cli.output import command_line, print_json, say
from warroom.cli.summary import print_summary


def merge_command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders of the shards.")],
    out: Annotated[Path, typer.Option(help="The new run folder.")],
    json: Json = False,
) -> None:
    """Merge the shards of one evaluation into one run folder, as if one machine had played it.

    Example: warroom merge runs/shard-1 runs/shard-2 --out runs/whole
    """
    publish = heavy.publish.publish
    for note in heavy.merge.merge_runs(runs, out, command_line()):
        say(f"note: {note}", "yellow")
    summary = publish(out)
    if json:
        print_json(summary)
    else:
        print_summary(summary, out)
