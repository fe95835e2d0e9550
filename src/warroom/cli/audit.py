"""`warroom audit`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from warroom.cli import heavy
from warroom.cli.flags import env_options, with_env_options
from warroom.cli.options import SHOWN, VIOLATED, EnvName, Json, Seeds, Split, Suite, Tiers, tiers_of
from warroom.cli.output import console, print_json, say
from warroom.cli.progress import progress
from warroom.envs import suite as find_suite
from warroom.evals.audit.leaks import LeakScan, scan_leaks
from warroom.evals.plan import parse_seeds

if TYPE_CHECKING:
    from warroom.evals.audit.run import Audit
    from warroom.evals.audit.spec import AuditSpec, PanelRow
    from warroom.evals.statistics import Estimate


FULL_SEEDS = range(42)
"""Of each of 24 scenarios: 1,008 incidents a tier."""


@with_env_options
def audit_command(
    *,
    given: Mapping[str, object],
    env: EnvName = "fleet",
    tiers: Tiers = "easy,medium,hard",
    seeds: Seeds = "5",
    split: Split = "dev",
    suite: Suite = "full",
    scripts: Annotated[int, typer.Option(min=1, help="Number of scripts that the search starts from.")] = 300,
    full: Annotated[
        bool, typer.Option("--full", help="Measure the panel of shortcuts on 1,000 incidents a tier or more.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Number of worker processes.")] = 2,
    json: Json = False,
) -> None:
    """Check for exploits and leaks: scores of policies that ignore the evidence, ground truth in observations.

    Plays dozens of degenerate teams, searches short action scripts, compares all of them with fixed limits, scans whole
    episodes for leaks of the truth, and measures what rules earn that skip a source. Exit code 1 when a limit is
    exceeded or something leaks.

    Example: warroom audit --tiers hard --seeds 10
    """
    chosen, incidents, budget = tiers_of(tiers), parse_seeds(seeds), heavy.search.SearchBudget(scripts)
    audit_spec = heavy.audit_spec.find_audit_spec(env, env_options(env, given).to_json())
    with progress("episodes", heavy.audit.audit_episode_count(audit_spec, chosen, incidents, suite, budget)) as watch:
        found = heavy.audit.run_audit(
            audit_spec, chosen, incidents, suite_name=suite, workers=workers, split=split, progress=watch, budget=budget
        )
    say("scanning for leaks")
    scan = scan_leaks(audit_spec.leaks, env, chosen, incidents, suite_name=suite, split=split)
    rows = _panel(audit_spec, chosen, suite, FULL_SEEDS if full else incidents, split)
    if json:
        print_json({**found.to_json(), "leaks": scan.to_json(), "panel": [row._asdict() for row in rows]})
    else:
        _print_audit(found, scan)
        _print_panel(rows)
    if found.violations or scan.leaks or any(row.breaks for row in rows):
        raise typer.Exit(VIOLATED)


def _panel(
    audit_spec: "AuditSpec", tiers: Sequence[str], suite: str, seeds: Sequence[int], split: str
) -> "list[PanelRow]":
    if audit_spec.panel is None:
        return []
    say("measuring the panel of shortcuts")
    return audit_spec.panel(tiers, find_suite(audit_spec.env, suite), seeds, split)


def _print_panel(rows: "Sequence[PanelRow]") -> None:
    if not rows:
        return
    title = "rules that skip a source: shares of the expert's points for suspensions, with 95 % intervals"
    table = Table(title=title, title_justify="left")
    table.add_column("tier")
    table.add_column("rule")
    for heading in ("n", "share", "bound", "worst kind of change"):
        table.add_column(heading, justify="right")
    for row in rows:
        share = f"{row.share:.2f} ({row.lo:.2f} to {row.hi:.2f})"
        bound = "-" if row.bound is None else f"{row.bound:.2f}"
        table.add_row(row.tier, row.rule, str(row.n), share, bound, f"{row.worst:.2f} {row.worst_family}")
    console().print(table)
    for row in rows:
        if row.breaks:
            say(f"shortcut: {row.rule} ({row.tier}): {row.share:.2f} of the expert's, bound {row.bound}", "red")


def _print_audit(found: "Audit", scan: LeakScan) -> None:
    title = f"{found.env}, {found.suite} suite, {found.split} split: means with 95 % intervals"
    table = Table(title=title, title_justify="left")
    for heading in ("tier", "policy", "kind"):
        table.add_column(heading)
    for heading in ("n", "points", "points where something is wrong", "solved there"):
        table.add_column(heading, justify="right")
    for row in found.summaries:
        metrics = (_span(row.points, 1), _span(row.points_wrong, 1), _span(row.solved_wrong, 100))
        table.add_row(row.tier, row.policy, row.kind + (", does nothing" if row.passive else ""), str(row.n), *metrics)
    screen = console()
    screen.print(table)
    broken = {violation.bar for violation in found.violations}
    for bar in found.bars:
        state = "FAILS" if bar in broken else "holds"
        print(f"{state}  {bar}: every policy that weighs no evidence {heavy.bars.BARS[bar]}")
    if found.within_chance:
        print(f"  {len(found.within_chance)} means lie on the wrong side of a bar within chance; --json names them")
    print(f"{'FAILS' if scan.leaks else 'holds'}  no leaks: {scan.texts} texts of {scan.episodes} episodes")
    for scenario in sorted({scenario for row in found.summaries for scenario in row.mostly_solved}):
        who = sorted({row.policy for row in found.summaries if scenario in row.mostly_solved})
        print(f"  {scenario} alone tells little: half of it or more is solved by {', '.join(who)}")
    for violation in found.violations[:SHOWN]:
        say(f"{violation.bar}: {violation.policy} ({violation.tier}): {violation.detail}", "red")
    for leak in scan.leaks[:SHOWN]:
        say(f"leak, {leak.check}: {leak.where}: {leak.detail}", "red")


def _span(estimate: "Estimate", scale: float) -> str:
    if estimate.lo is None or estimate.hi is None:
        return f"{scale * estimate.mean:.1f}"
    return f"{scale * estimate.mean:.1f} ({scale * estimate.lo:.1f} to {scale * estimate.hi:.1f})"
