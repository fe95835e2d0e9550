"""`warroom audit` and `warroom certify`: whether the numbers of the other commands can be trusted."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from warroom.commands.common import (
    Articles,
    Json,
    Mode,
    Split,
    Topology,
    console,
    options_of,
    print_json,
    progress,
    say,
)

if TYPE_CHECKING:
    from warroom.evals.audit.certify import CertificateRow, TierSummary
    from warroom.evals.audit.leaks import LeakScan
    from warroom.evals.audit.run import Audit
    from warroom.evals.statistics import EstimateJson

Env = Annotated[str, typer.Option(help="Which environment.")]
VIOLATED = 1
"""Exit code when a bar fails."""
Tiers = Annotated[str, typer.Option(help="Which tiers, by comma.")]
Suite = Annotated[str, typer.Option(help="Which scenarios: a suite of `warroom list`.")]
SHOWN = 12
"""Failures that are printed; --json has all."""


def audit_command(
    env: Env = "fleet",
    tiers: Tiers = "easy,medium,hard",
    seeds: Annotated[
        str, typer.Option(help="Which incidents of the split: a count (5), a list (0,3,7) or a range (10-19).")
    ] = "5",
    split: Split = "dev",
    suite: Suite = "full",
    mode: Mode = None,
    articles: Articles = None,
    scripts: Annotated[int, typer.Option(min=1, help="How many scripts the search starts from.")] = 300,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    json: Json = False,
) -> None:
    """See what policies that weigh no evidence can get, and whether anything shown to a seat tells the truth.

    Plays dozens of degenerate teams and searches short scripts, holds all of them against the bars, and scans whole
    episodes for leaks. Exit code 1 when a bar fails.

    Example: warroom audit --tiers hard --seeds 10
    """
    from warroom.evals.audit.leaks import scan_leaks
    from warroom.evals.audit.run import audit_episode_count, run_audit
    from warroom.evals.audit.search import SearchBudget
    from warroom.evals.audit.spec import find_audit_spec
    from warroom.evals.plan import parse_seeds

    chosen, incidents, budget = _tiers(tiers), parse_seeds(seeds), SearchBudget(scripts)
    audit_spec = find_audit_spec(env, options_of(mode=mode, articles=articles))
    with progress("episodes", audit_episode_count(audit_spec, chosen, incidents, suite, budget)) as watch:
        found = run_audit(
            audit_spec, chosen, incidents, suite_name=suite, workers=workers, split=split, progress=watch, budget=budget
        )
    say("scanning for leaks")
    scan = scan_leaks(audit_spec.leaks, env, chosen, incidents, suite_name=suite, split=split)
    if json:
        print_json({**found.to_json(), "leaks": scan.to_json()})
    else:
        _print_audit(found, scan)
    if found.violations or scan.leaks:
        raise typer.Exit(VIOLATED)


def certify_command(
    env: Env = "fleet",
    tiers: Tiers = "easy,medium,hard",
    seeds: Annotated[
        str, typer.Option(help="Which incidents of the split: a count (5), a list (0,3,7) or a range (10-19).")
    ] = "5",
    split: Split = "dev",
    suite: Suite = "full",
    scenarios: Annotated[
        str | None, typer.Option(help="Which scenarios by name, by comma, instead of a suite.")
    ] = None,
    topology: Topology = None,
    json: Json = False,
) -> None:
    """Check incidents in full: solvable, lasting, beyond doubt, and whatever else makes them fair in that environment.

    Exit code 1 when an incident fails.

    Example: warroom certify --scenarios cascade,rogue_bystander --tiers hard --seeds 20
    """
    from warroom.evals.audit.certify import aggregate, run_certify
    from warroom.evals.audit.spec import find_audit_spec
    from warroom.evals.plan import parse_seeds, scenarios_of

    chosen, levels, indices = scenarios_of(env, suite, scenarios), _tiers(tiers), parse_seeds(seeds)
    certify, options = find_audit_spec(env).certify, options_of(topology=topology)
    with progress("incidents", len(chosen) * len(levels) * len(indices)) as watch:
        rows = run_certify(certify, chosen, levels, indices, split=split, options=options, progress=watch)
    summary = aggregate(rows)
    if json:
        print_json({"split": split, "tiers": summary, "rows": [row.to_json() for row in rows]})
    else:
        _print_certificates(summary, rows)
    if not all(row.valid for row in rows):
        raise typer.Exit(VIOLATED)


def _tiers(text: str) -> tuple[str, ...]:
    """The tiers of a comma-separated list, refused before anything is played."""
    from warroom.core.errors import UnknownName
    from warroom.core.scenario import TIERS
    from warroom.evals.plan import split_commas

    found = tuple(dict.fromkeys(split_commas(text)))
    for tier in found or ("",):
        if tier not in TIERS:
            raise UnknownName("tier", tier, TIERS)
    return found


def _print_audit(found: "Audit", scan: "LeakScan") -> None:
    from rich.table import Table

    from warroom.evals.audit.bars import BARS

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
        print(f"{'FAILS' if bar in broken else 'holds'}  {bar}: every policy that weighs no evidence {BARS[bar]}")
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


def _span(estimate: Any, scale: float) -> str:
    if estimate.lo is None:
        return f"{scale * estimate.mean:.1f}"
    return f"{scale * estimate.mean:.1f} ({scale * estimate.lo:.1f} to {scale * estimate.hi:.1f})"


def _print_certificates(summary: "list[TierSummary]", rows: "list[CertificateRow]") -> None:
    from rich.table import Table

    from warroom.core.splits import format_seed

    table = Table(title="per cent of incidents, with 95 % intervals", title_justify="left")
    table.add_column("check")
    for tier in summary:
        table.add_column(f"{tier['tier']} (n = {tier['n']})", justify="right")
    for check in summary[0]["shares"]:
        table.add_row(check, *[_percent(tier["shares"][check]) for tier in summary])
    for figure in summary[0]["figures"]:
        spans = [
            f"{x['least']:.1f} / {x['p5']:.1f} / {x['median']:.1f}" for x in (t["figures"][figure] for t in summary)
        ]
        table.add_row(f"{figure}: least / 5 % / median", *spans)
    table.add_row("draws thrown away", *[str(tier["redraws"]) for tier in summary])
    console().print(table)
    for row in [row for row in rows if not row.valid][:SHOWN]:
        say(f"{row.scenario} {row.tier}, {format_seed(row.seed)}: {row}", "red")


def _percent(share: "EstimateJson | None") -> str:
    if share is None or share["lo"] is None or share["hi"] is None:
        return "none"
    return f"{100 * share['mean']:.1f} ({100 * share['lo']:.1f} to {100 * share['hi']:.1f})"
