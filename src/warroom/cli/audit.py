"""`warroom audit`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from warroom.cli import heavy
from warroom.cli.flags import env_options, with_env_options
from warroom.cli.options import SHOWN, VIOLATED, EnvName, Json, Seeds, Split, Suite, Tiers, tiers_of
from warroom.cli.output import console, new_table, print_json, say
from warroom.cli.progress import progress
from warroom.envs import suite as find_suite
from warroom.evals.audit.leaks import LeakScan, scan_leaks
from warroom.evals.plan import parse_seeds

if TYPE_CHECKING:
    from warroom.evals.audit.gates import Gate, GateFolder, GateRow, Incidents
    from warroom.evals.audit.run import Audit
    from warroom.evals.audit.search import SearchBudget
    from warroom.evals.audit.spec import AuditSpec
    from warroom.evals.statistics import Estimate


FULL_SEEDS = tuple(range(42))
"""Of each of 24 scenarios: 1,008 incidents a tier."""
Shown = dict[tuple[str, str], list["GateRow"]]


@with_env_options
def audit_command(
    *,
    given: Mapping[str, object],
    env: EnvName = "fleet",
    tiers: Tiers = "easy,medium,hard",
    seeds: Seeds = "5",
    split: Split = "dev",
    suite: Suite = "full",
    scripts: Annotated[
        int | None, typer.Option(min=1, help="Number of scripts that the search starts from. [default: 300; logs: 60]")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Measure every gate, on at least 1,000 incidents per tier; takes hours.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the measurements of a full audit; an interrupted one resumes from it."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of worker processes.")] = 2,
    json: Json = False,
) -> None:
    """Check for exploits and leaks: scores of policies that ignore the evidence, ground truth in observations.

    Plays dozens of degenerate teams, searches short action scripts, compares all of them with fixed limits, scans whole
    episodes for leaks of the truth, and measures how much rules earn that ignore a source of evidence. Exit code 1 when
    a limit is exceeded or something leaks, and in a full audit also when its incidents are too few to decide.

    Example: warroom audit --tiers hard --seeds 10
    """
    if out is not None and not full:
        raise ValueError("--out keeps what a full audit measures; add --full, or leave it out")
    audit_spec = heavy.audit_spec.find_audit_spec(env, env_options(env, given))
    chosen, budget = tiers_of(tiers), heavy.search.SearchBudget(scripts or audit_spec.searched_scripts)
    if full:
        plan = FullPlan(audit_spec, chosen, suite, split, budget, workers)
        rows = _measure_all(plan, heavy.gates.GateFolder(out))
        if json:
            print_json({"gates": [row.to_json() for row in rows]})
        else:
            _print_gates(rows)
        if any(row.verdict == "fails" or (row.verdict == "undecided" and not row.part) for row in rows):
            raise typer.Exit(VIOLATED)
        return
    incidents = parse_seeds(seeds)
    with progress("episodes", heavy.audit.audit_episode_count(audit_spec, chosen, incidents, suite, budget)) as watch:
        found = heavy.audit.run_audit(
            audit_spec, chosen, incidents, suite_name=suite, workers=workers, split=split, progress=watch, budget=budget
        )
    say("scanning for leaks")
    scan = scan_leaks(
        audit_spec.leaks, env, chosen, incidents, suite_name=suite, split=split, options=audit_spec.options
    )
    measured = partial(
        heavy.gates.Incidents, scenarios=tuple(find_suite(env, suite)), seeds=incidents, split=split,
        options=audit_spec.options,
    )  # fmt: skip
    rows = _measure_quick(audit_spec, [measured(tier) for tier in chosen])
    if json:
        print_json({**found.to_json(), "leaks": scan.to_json(), "gates": [row.to_json() for row in rows]})
    else:
        _print_audit(found, scan)
        _print_gates(rows)
    if found.violations or scan.leaks or any(row.verdict == "fails" for row in rows):
        raise typer.Exit(VIOLATED)


@dataclass(frozen=True)
class FullPlan:
    """What a full audit measures."""

    audit_spec: "AuditSpec"
    tiers: Sequence[str]
    suite: str
    split: str
    budget: "SearchBudget"
    workers: int


def _measure_quick(audit_spec: "AuditSpec", todo: "Sequence[Incidents]") -> "list[GateRow]":
    quick = [gate for name, gate in audit_spec.gates.items() if name in heavy.audit_spec.QUICK_GATES]
    return [row for gate in quick for incidents in todo for row in gate(incidents)]


def _measure_all(plan: FullPlan, folder: "GateFolder") -> "list[GateRow]":
    """Every gate on every tier, told as each begins."""
    audit_spec = plan.audit_spec
    gates: dict[str, Gate] = {
        **audit_spec.gates,
        "policies": partial(heavy.audit.policies_gate, audit_spec, plan.suite, plan.budget, plan.workers),
        "leaks": partial(heavy.audit.leaks_gate, audit_spec, plan.suite),
    }
    rows, scenarios = [], tuple(find_suite(audit_spec.env, plan.suite))
    for name, gate in gates.items():
        for tier in plan.tiers:
            say(f"{name}, {tier}")
            asked = heavy.gates.Incidents(tier, scenarios, FULL_SEEDS, plan.split, audit_spec.options)
            rows += folder.measure(name, gate, asked)
    return rows


def _print_gates(rows: "Sequence[GateRow]") -> None:
    """One table a gate and tier, a column for each part of the incidents, then what does not hold."""
    tables: Shown = {}
    for row in rows:
        tables.setdefault((row.gate, row.tier), []).append(row)
    for (gate, tier), shown in tables.items():
        console().print(_gate_table(f"{gate}, {tier}", shown))
    counts = Counter(row.verdict for row in rows)
    print(", ".join(f"{counts[verdict]} {verdict}" for verdict in ("holds", "undecided", "fails", "reported")))
    for row in rows:
        if row.verdict == "fails":
            where = f"{row.what}{f', {row.part} present' if row.part else ''} ({row.tier})"
            sense = "at least" if row.at_least else "at most"
            say(f"{row.gate}: {where}: {_interval(row)}, bar {sense} {row.bar:g}", "red")


def _gate_table(title: str, rows: "Sequence[GateRow]") -> Table:
    table = Table(title=f"{title}: the end of the 95 % interval that the bar concerns", title_justify="left")
    parts = list(dict.fromkeys(row.part for row in rows if row.part))
    table.add_column("", no_wrap=True)
    for heading in ("n", "value", "bar", "", *parts):
        table.add_column(heading, justify="right", no_wrap=True)
    by_part = {(row.what, row.part): row for row in rows}
    for row in [row for row in rows if not row.part]:
        sense = "" if row.bar is None else f"{'≥' if row.at_least else '≤'} {row.bar:g}"
        ends = [_end(by_part.get((row.what, part))) for part in parts]
        table.add_row(row.what, str(row.n), f"{row.value:.2f}", sense, _end(row), *ends)
    return table


MARKS = {"holds": "", "undecided": "?", "fails": "!", "reported": ""}
"""After a figure: `?` where more incidents have to decide, `!` where the bar fails."""


def _interval(row: "GateRow") -> str:
    return f"{row.value:.2f} ({row.lo:.2f} to {row.hi:.2f})"


def _end(row: "GateRow | None") -> str:
    end = None if row is None else row.lo if row.at_least else row.hi
    return "" if row is None or end is None else f"{'-' if isinf(end) else f'{end:.2f}'}{MARKS[row.verdict]}"


def _print_audit(found: "Audit", scan: LeakScan) -> None:
    title = f"{found.env}, {found.suite} suite, {found.split} split: means with 95 % intervals"
    figures = ("n", "points", "points where something is wrong", "solved there")
    table = new_table(title, ("tier", "policy", "kind"), figures)
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
