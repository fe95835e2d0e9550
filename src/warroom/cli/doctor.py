"""`warroom doctor`."""

import typer
from rich.table import Table
from rich.text import Text

from warroom.cli.checkup import CheckResult, State, run_checks
from warroom.cli.options import Json
from warroom.cli.output import console, print_json

BROKEN_EXIT = 1
"""Exit code when something that is installed does not work."""
COLORS = {"works": "green", "absent": "yellow", "broken": "bold red"}


def doctor_command(json: Json = False) -> None:
    """Say what is installed, what each extra would add, and whether all of it works.

    Exit code 1 when something that is installed does not work.

    Example: warroom doctor
    """
    found = run_checks()
    broken = [finding for finding in found if finding.state is State.BROKEN]
    if json:
        print_json({"works": not broken, "findings": [vars(finding) for finding in found]})
    else:
        _print(found, [finding.part for finding in broken])
    if broken:
        raise typer.Exit(BROKEN_EXIT)


def _print(found: list[CheckResult], broken: list[str]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("", "part", "state", "what was found"):
        table.add_column(heading)
    before = ""
    for finding in found:
        told = Text(finding.detail)
        if finding.advice:
            told.append(f"\n{finding.advice}", "bold")
        section = "" if finding.section == before else finding.section
        before = finding.section
        table.add_row(Text(section, "dim"), finding.part, Text(finding.state, COLORS[finding.state]), told)
    console().print(table)
    print(f"\nbroken: {', '.join(broken)}" if broken else "\nWhat is installed works.")
