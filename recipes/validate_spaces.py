"""Validate every Space: OpenEnv's own checks, static and at run time, its probe of a running server, and ours.

python recipes/validate_spaces.py [--out runs/validation.json] [fleet logs tickets]
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from build_spaces import build
from openenv.cli._validation import validate_running_environment
from openenv.validation import Level, run_validation
from rich.console import Console
from rich.table import Table
from space_checks import CHECKS, subject
from space_process import RunningProcess, SubprocessProvider, command_of

from warroom.envs import environments

STYLES = {"PASS": "green", "FAIL": "bold red", "ERROR": "bold red", "SKIP": "dim"}
STARTUP = 60.0
"""Seconds that a server may take to start."""


class Row(NamedTuple):
    """One check of one Space."""

    space: str
    by: str
    """Who checks: openenv, openenv --url, or warroom."""
    check: str
    status: str
    evidence: str
    seconds: float


def validated(space: str, root: Path) -> Iterator[Row]:
    """Every check of a Space in the folder `root`, as it is done."""
    report = run_validation(root, max_level=Level.RUNTIME, provider=SubprocessProvider())
    for result in report.results:
        if result.check_id not in CHECKS:  # those are ours, below
            evidence = "; ".join(result.evidence)
            yield Row(space, "openenv", result.check_id, result.status.value.upper(), evidence, result.duration_s)
    command = command_of((root / "Dockerfile").read_text())
    running = RunningProcess(command, root, {}, STARTUP)
    try:
        for criterion in validate_running_environment(running.base_url)["criteria"]:
            status = "PASS" if criterion["passed"] else "FAIL"
            yield Row(space, "openenv --url", criterion["id"], status, criterion["description"], 0.0)
        chosen = subject(root, running.base_url)
        for id, check in CHECKS.items():
            start = time.monotonic()
            passed, evidence = check(chosen)
            yield Row(space, "warroom", id, "PASS" if passed else "FAIL", evidence, time.monotonic() - start)
    finally:
        running.stop()


def table(rows: list[Row]) -> Table:
    out = Table("Space", "by", "check", "status", "evidence", "s", title="Validation of the Spaces")
    for row in rows:
        style = STYLES[row.status]
        out.add_row(row.space, row.by, row.check, f"[{style}]{row.status}[/]", row.evidence, f"{row.seconds:.1f}")
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spaces", nargs="*", default=list(environments()))
    parser.add_argument("--out", type=Path, help="write the rows as JSON too")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for space in asked.spaces for row in validated(space, build(space, Path(folder)))]
    console = Console() if sys.stdout.isatty() else Console(width=190)
    console.print(table(rows))
    counts = {status: sum(row.status == status for row in rows) for status in STYLES}
    console.print(", ".join(f"{count} {status}" for status, count in counts.items() if count))
    if asked.out is not None:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")
    return 1 if counts["FAIL"] or counts["ERROR"] else 0


if __name__ == "__main__":
    sys.exit(main())
