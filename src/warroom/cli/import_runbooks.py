"""`warroom import runbooks`."""

from pathlib import Path
from typing import Annotated

import typer

from warroom.cli.knowledge import Force, check_free, report
from warroom.cli.options import Json
from warroom.cli.progress import progress
from warroom.envs.tickets.storage import (
    write_knowledge_base,
)
from warroom.importers.knowledge.runbooks import find_runbooks, import_runbooks


def runbooks_command(
    folder: Annotated[Path, typer.Argument(help="A folder of Markdown files, at any depth.")],
    out: Annotated[Path, typer.Option(help="The folder of the knowledge base that is made.")] = Path("kb"),
    force: Force = False,
    json: Json = False,
) -> None:
    """Read a tree of Markdown files into a knowledge base. Over one that is there, its tickets go as well.

    Example: warroom import runbooks docs/runbooks --out kb
    """
    tree = find_runbooks(folder)
    check_free(out, force)
    with progress("files", len(tree.paths)) as watch:
        stored = import_runbooks(tree, watch)
    write_knowledge_base(stored, out)
    report(stored.sources[-1], stored, out, json)
