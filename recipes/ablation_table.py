"""The table of `recipes/ablation.sh`: what each variant reached on the test incidents, from summaries alone."""

import json
import sys
from pathlib import Path
from typing import Any

SHOWN = {"points": 1, "solved": 100, "rogue_catch": 100, "rogue_false_positive": 100, "mttr": 1}
"""Metrics and what they are multiplied by."""


def rows(folder: Path) -> list[list[str]]:
    """A row for each tier of one evaluation."""
    summary = json.loads((folder / "summary.json").read_text())
    pooled = [row for row in summary["rows"] if row["scenario"] is None]
    name = f"{folder.parent.name} {folder.name.removesuffix('-eval')}"
    return [
        [name, row["tier"], str(row["n"]), *[cell(row.get(key), by) for key, by in SHOWN.items()]] for row in pooled
    ]


def cell(found: dict[str, Any] | None, by: int) -> str:
    if not found or found["mean"] is None:
        return ""
    span = "" if found["lo"] is None else f" ({by * found['lo']:.1f} to {by * found['hi']:.1f})"
    return f"{by * found['mean']:.1f}{span}"


def main() -> None:
    folders = sorted(path.parent for path in Path(sys.argv[1]).glob("seed-*/*-eval/summary.json"))
    head = ["variant", "tier", "n", "points", "solved %", "rogues caught %", "innocents flagged %", "minutes"]
    for line in [head, ["---"] * len(head), *[row for folder in folders for row in rows(folder)]]:
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
