"""`warroom crossplay`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from warroom.cli import heavy
from warroom.cli.eval import Seeds, Suite, Tiers
from warroom.cli.options import Json, Split
from warroom.cli.output import console, print_json, run_command_line, say
from warroom.cli.progress import progress
from warroom.core.errors import UnknownName
from warroom.core.signals import exit_code
from warroom.core.words import split_list
from warroom.envs import env_spec
from warroom.evals.plan import parse_seeds
from warroom.evals.record import evaluation_record
from warroom.evals.selection import EvaluationRequest, select_plan
from warroom.runs import open_run

if TYPE_CHECKING:
    from warroom.evals.crossplay import CrossPlayRow


def crossplay_command(
    teams: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Training runs by folder, or policies such as nano, expert.")
    ],
    *,
    out: Annotated[Path, typer.Option("--out", help="Run folder; gets crossplay.csv and crossplay.png besides.")],
    env: Annotated[str, typer.Option(help="Environment.")] = "fleet",
    seats: Annotated[
        str | None, typer.Option(help="Seats that change teams, comma-separated. Default: each of them in turn.")
    ] = None,
    tiers: Tiers = None,
    seeds: Seeds = None,
    split: Split = "test",
    suite: Suite = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Worker processes. Default: one per core.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in --out.")] = False,
    json: Json = False,
) -> None:
    """Play each seat of one team beside the other seats of another, and show the scores as a matrix.

    A seat that has learnt habits of its own teammates plays worse beside others. All cells are of the same incidents.

    Example: warroom crossplay runs/dagger runs/grpo expert --seeds 4 --split dev --out runs/crossplay
    """
    crossplay, picture = heavy.crossplay, heavy.crossplay_plot
    mixed = crossplay.mixed_teams([crossplay.team_of(team) for team in teams], _seats(env, seats))
    plan, _ = select_plan(
        EvaluationRequest(
            env=env, policies=tuple(dict.fromkeys(one.policies for one in mixed)), suite=suite, split=split,
            tiers=None if tiers is None else tuple(split_list(tiers)),
            seeds=None if seeds is None else parse_seeds(seeds),
        )
    )  # fmt: skip
    typed = run_command_line(out, out, resume=False), run_command_line(out, out, resume=True)
    run = open_run(out, evaluation_record(plan, typed[0]), resume)
    try:
        with run, progress("episodes", len(plan), sum(run.played.values())) as watch:
            unplayed = heavy.run.play_plan(plan, run, workers, watch)
    except KeyboardInterrupt as stop:
        say(f"\nStopped; finished episodes are saved. Resume with:\n  {typed[1]}", "yellow")
        raise typer.Exit(exit_code(stop)) from None
    if unplayed:
        raise ValueError(f"{len(unplayed)} episodes failed: {'; '.join(heavy.run.summarise_errors(unplayed))}")
    heavy.publish.publish(out)
    rows = crossplay.write_crossplay(out, mixed)
    drawn = picture.plot_crossplay(rows, out)
    if json:
        print_json([{**row._asdict(), "score": row.score.to_json()} for row in rows])
        return
    _print(rows)
    say(f"{out / crossplay.CROSSPLAY}, {drawn}, {out / 'report.html'}")


def _seats(env: str, text: str | None) -> tuple[str, ...]:
    """The seats that change teams."""
    known = env_spec(env).seats
    if len(known) < 2:
        raise ValueError(f"cross-play needs an environment of several seats; {env} has {', '.join(known)} alone")
    chosen = known if text is None else tuple(dict.fromkeys(split_list(text)))
    for seat in chosen:
        if seat not in known:
            raise UnknownName("seat", seat, known)
    return chosen


def _print(rows: "Sequence[CrossPlayRow]") -> None:
    table = Table(title="mean score, with 95 % intervals clustered by incident", title_justify="left")
    for heading in ("tier", "seat", "of", "beside", "score", "interval", "incidents"):
        table.add_column(heading)
    for row in rows:
        score = row.score
        between = "" if score.lo is None or score.hi is None else f"{score.lo:+.3f} to {score.hi:+.3f}"
        table.add_row(row.tier, row.seat, row.of, row.beside, f"{score.mean:+.3f}", between, str(row.incidents))
    console().print(table)
