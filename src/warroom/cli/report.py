"""`warroom report`."""

from typing import Annotated

import typer

from warroom.cli import heavy
from warroom.cli.options import Json, RunFolder
from warroom.cli.output import print_json
from warroom.cli.summary import print_summary


def report_command(
    run: RunFolder,
    baseline: Annotated[str | None, typer.Option(help="Whom to compare with. Default: the run's own.")] = None,
    json: Json = False,
) -> None:
    """Make summary, pictures and report of a run again from its episodes.

    Example: warroom report runs/hard --baseline expert
    """
    summary = heavy.publish.publish(run, baseline)
    if json:
        print_json(summary)
    else:
        print_summary(summary, run)
