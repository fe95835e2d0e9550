"""`warroom replay`, `warroom compare` and `warroom report`: commands that read run folders."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warroom.commands.common import Json, console, print_json, say

if TYPE_CHECKING:
    from rich.table import Table

RunFolder = Annotated[Path, typer.Argument(help="A run folder.")]


def replay_command(run: RunFolder, json: Json = False) -> None:
    """Play every episode of a run again from its recorded calls; fails if one goes another way than its record.

    Example: warroom replay runs/hard
    """
    from warroom.runs import ReplayMismatch, read_episodes, replay

    count, differing = 0, []
    for episode in read_episodes(run):
        count += 1
        try:
            replay(episode)
        except ReplayMismatch as mismatch:
            differing.append(str(mismatch))
            say(str(mismatch), "red")
    if json:
        print_json({"episodes": count, "differing": differing})
    else:
        print(f"{count - len(differing)} of {count} episodes went as recorded")
    if differing:
        raise typer.Exit(1)


def compare_command(
    run_a: RunFolder,
    run_b: RunFolder,
    policy_a: Annotated[str | None, typer.Option(help="Which policy of the first run, if it has several.")] = None,
    policy_b: Annotated[str | None, typer.Option(help="Which policy of the second run.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show rows without any difference, too.")] = False,
    json: Json = False,
) -> None:
    """Compare two runs on the incidents that both played: the second less the first.

    Example: warroom compare runs/before runs/after
    """
    from warroom.evals.compare import compare_runs

    found = compare_runs(run_a, run_b, policy_a, policy_b)
    if json:
        print_json(found)
    else:
        _print_comparison(found, everything)


def report_command(
    run: RunFolder,
    baseline: Annotated[str | None, typer.Option(help="Whom to compare with. Default: the run's own.")] = None,
    json: Json = False,
) -> None:
    """Make summary, pictures and report of a run again from its episodes.

    Example: warroom report runs/hard --baseline expert
    """
    from warroom.commands.evaluate import print_summary
    from warroom.evals.publish import publish

    summary = publish(run, baseline)
    if json:
        print_json(summary)
    else:
        print_summary(summary, run)


def _print_comparison(found: Mapping[str, Any], everything: bool) -> None:
    from rich.text import Text

    from warroom.evals.compare import is_equal

    screen = console()
    for note in found["notes"]:
        say(f"note: {note}", "yellow")
    for summary in found["summaries"]:
        screen.print(Text(summary))
    rows = [row for row in found["rows"] if everything or not is_equal(row)]
    left_out = len(found["rows"]) - len(rows)
    if rows:
        screen.print(_comparison_table(found, rows))
    if left_out:
        screen.print(Text(f"{left_out} rows without any difference are left out; --all shows them"))


def _comparison_table(found: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> "Table":
    from rich.table import Table

    from warroom.evals.report import cell

    table = Table(title=f"B {found['second']} less A {found['first']}", title_justify="left")
    for heading in ("policy", "where", "metric"):
        table.add_column(heading)
    for heading in ("A", "B", "difference", "95 % interval", "p", "adjusted p", "incidents"):
        table.add_column(heading, justify="right")
    for row in rows:
        metric = row["metric"]
        names = row["policy_a"] if row["policy_a"] == row["policy_b"] else f"{row['policy_b']} less {row['policy_a']}"
        ends = [cell({metric: {"mean": row[side], "lo": None, "hi": None}}, metric).mean for side in ("a", "b")]
        shown = cell({metric: row["difference"]}, metric)
        figures = [*ends, shown.mean, shown.interval, f"{row['p']:.4f}", f"{row['p_holm']:.4f}", str(row["incidents"])]
        table.add_row(names, row["tier"] or row["scenario"], metric.replace("_", " "), *figures)
    return table
