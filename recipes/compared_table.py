"""The table of `recipes/nano_controls.sh`: each training less its start on the same test incidents."""

import json
import sys
from pathlib import Path

METRICS = {"points": 1, "solved": 100, "rogue_catch": 100, "rogue_false_positive": 100}
"""Metrics and what they are multiplied by: shares are told in per cent."""


def main() -> None:
    head = ["training", "tier", "metric", "start", "trained", "difference", "95 % interval", "p", "incidents"]
    lines = [head, ["---"] * len(head)]
    for path in sorted(Path(sys.argv[1]).glob("*-eval/against-start.json")):
        for row in json.loads(path.read_text())["rows"]:
            if row["metric"] in METRICS and row["tier"]:
                by, found = METRICS[row["metric"]], row["difference"]
                figures = [row["a"], row["b"], found["mean"], found["lo"], found["hi"]]
                start, trained, mean, low, high = ("" if one is None else f"{by * one:.1f}" for one in figures)
                name = path.parent.name.removesuffix("-eval")
                span = f"{low} to {high}"
                lines.append(
                    [
                        name,
                        row["tier"],
                        row["metric"],
                        start,
                        trained,
                        mean,
                        span,
                        f"{row['p']:.4f}",
                        str(row["incidents"]),
                    ]
                )
    for line in lines:
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
