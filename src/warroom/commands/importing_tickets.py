"""`warroom import runbooks`, `alerts` and `tickets`: a knowledge base and tickets of one's own."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warroom.commands.common import Json, console, print_json, progress

if TYPE_CHECKING:
    from warroom.envs.tickets.storage import ImportedKnowledgeBase, ImportSource
    from warroom.importers.knowledge.alerts import ImportedTickets

Base = Annotated[Path, typer.Option("--kb", help="The knowledge base: a folder of `warroom import runbooks`.")]
Out = Annotated[
    Path | None, typer.Option(help="Where the knowledge base with the tickets goes. Default: to --kb itself.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the knowledge base that is there.")]


def runbooks_command(
    folder: Annotated[Path, typer.Argument(help="A folder of Markdown files, at any depth.")],
    out: Annotated[Path, typer.Option(help="The folder of the knowledge base that is made.")] = Path("kb"),
    force: Force = False,
    json: Json = False,
) -> None:
    """Read a tree of Markdown files into a knowledge base. Over one that is there, its tickets go as well.

    Example: warroom import runbooks docs/runbooks --out kb
    """
    from warroom.envs.tickets.storage import write_knowledge_base
    from warroom.importers.knowledge.runbooks import find_runbooks, import_runbooks

    tree = find_runbooks(folder)
    _check_free(out, force)
    with progress("files", len(tree.paths)) as watch:
        stored = import_runbooks(tree, watch)
    write_knowledge_base(stored, out)
    _report(stored.sources[-1], stored, out, json)


def alerts_command(
    rules: Annotated[list[Path], typer.Argument(help="Files of Prometheus rules, or folders that hold some.")],
    kb: Base,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make a ticket of every alert; the article that its runbook link means is the right one.

    Tickets are added to those that are there; one of the same id takes its place.

    Example: warroom import alerts rules/ --kb kb
    """
    from warroom.envs.tickets.storage import read_knowledge_base
    from warroom.importers.knowledge.alerts import import_alerts
    from warroom.importers.knowledge.rules import rule_files

    stored, files = read_knowledge_base(kb), rule_files(rules)
    with progress("files", len(files)) as watch:
        found = import_alerts(files, _called(rules), stored.base, watch)
    _add(found, stored, kb, out, force, json)


def tickets_command(
    file: Annotated[Path, typer.Argument(help="A file of tickets: .csv with a header, or .jsonl.")],
    kb: Base,
    map: Annotated[
        str, typer.Option(help="Columns: id=...,text=...,gold=...,escalate=...,reference=...; text=subject+body joins.")
    ] = "",
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Read tickets of one's own, with what is known of their right answers.

    Tickets are added to those that are there; one of the same id takes its place.

    Example: warroom import tickets closed.csv --kb kb --map id=number,text=subject+body,gold=article
    """
    from warroom.envs.tickets.storage import read_knowledge_base
    from warroom.importers.knowledge.tables import import_tickets, parse_map, read_table

    stored, columns, table = read_knowledge_base(kb), parse_map(map), read_table(file)
    with progress("tickets", len(table.rows)) as watch:
        found = import_tickets(table, columns, stored.base, watch)
    _add(found, stored, kb, out, force, json)


def _called(paths: Iterable[Path]) -> str:
    """Names without their folders, so that the same files make the same knowledge base wherever they lie."""
    return " ".join(path.resolve().name for path in paths)


def _check_free(out: Path, force: bool) -> None:
    """A folder is written to if it is empty or, by force, a knowledge base; anything else is not ours to touch."""
    from warroom.envs.tickets.storage import is_knowledge_base

    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not is_knowledge_base(out):
        raise ValueError(f"{out} exists and is no knowledge base; choose another --out")
    if not force:
        raise ValueError(f"{out} exists; choose another --out, or overwrite it with --force")


def _add(
    found: "ImportedTickets", stored: "ImportedKnowledgeBase", kb: Path, out: Path | None, force: bool, json: bool
) -> None:
    from warroom.envs.tickets.storage import write_knowledge_base

    target = out or kb
    if target.resolve() != kb.resolve():
        _check_free(target, force)
    known = {case.id for case in stored.base.cases}
    replaced = sum(case.id in known for case in found.cases)
    grown = stored.with_tickets(found.cases, found.source)
    write_knowledge_base(grown, target)
    _report(found.source, grown, target, json, replaced)


def _report(source: "ImportSource", stored: "ImportedKnowledgeBase", out: Path, json: bool, replaced: int = 0) -> None:
    totals = {"documents": len(stored.base.documents), "tickets": len(stored.base.cases)}
    if json:
        warnings = [asdict(warned) for warned in source.warnings]
        counts = {"counts": source.counts, "replaced": replaced, "warnings": warnings}
        print_json({"out": str(out), **counts, "holds": totals})
        return
    print(f"{source.importer} of {source.name}: " + ", ".join(f"{n:,} {what}" for what, n in source.counts.items()))
    if replaced:
        print(f"{replaced:,} tickets took the place of those with the same id")
    _print_warnings(source)
    print(f"wrote {out}: {totals['documents']:,} documents, {totals['tickets']:,} tickets")


def _print_warnings(source: "ImportSource") -> None:
    from rich.table import Table
    from rich.text import Text

    if not source.warnings:
        return
    table = Table(title="warnings", title_justify="left")
    table.add_column("kind")
    table.add_column("count", justify="right")
    table.add_column("what, and the first examples")
    for warned in source.warnings:
        # As texts: an example may hold what rich takes for markup.
        told = Text("\n".join((warned.message, *(f"  {example}" for example in warned.examples))))
        table.add_row(warned.kind, f"{warned.count:,}", told)
    console().print(table)
