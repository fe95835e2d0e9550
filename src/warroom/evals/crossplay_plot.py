"""The picture of cross-play: for each seat and tier a matrix of teams."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from warroom.core.errors import MissingExtra
from warroom.evals.crossplay import CrossPlayRow
from warroom.evals.plots import STYLE, short_name

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
except ImportError as error:
    raise MissingExtra("plots", error) from error

PICTURE = "crossplay.png"
BRIGHT = 0.45
"""Share of the colours from which text on them is dark."""


def plot_crossplay(rows: Sequence[CrossPlayRow], folder: Path) -> Path:
    """Draw `crossplay.png`: a row of matrices for each tier, one for each seat, with 95 % intervals in the cells."""
    tiers, seats, teams = (list(dict.fromkeys(row[k] for row in rows)) for k in range(3))
    least = min(0.0, *[row.score.mean for row in rows])
    with plt.rc_context({**STYLE, "font.size": 11}):
        size = (1.5 + (1 + 1.3 * len(teams)) * len(seats), 1.5 + (0.8 + 0.8 * len(teams)) * len(tiers))
        figure, grid = plt.subplots(len(tiers), len(seats), figsize=size, squeeze=False, layout="constrained")
        for tier, line in zip(tiers, grid, strict=True):
            for seat, axes in zip(seats, line, strict=True):
                _matrix(axes, [row for row in rows if (row.tier, row.seat) == (tier, seat)], teams, least)
                axes.set_title(f"{seat}, {tier}", fontsize=12)
        figure.suptitle("Score of a team in which one seat is another's", weight="bold", x=0.02, ha="left")
        figure.supxlabel("the other seats")
        figure.supylabel("the seat")
        figure.savefig(folder / PICTURE, metadata={"Software": None})
        plt.close(figure)
    return folder / PICTURE


def _matrix(axes: Axes, rows: Sequence[CrossPlayRow], teams: Sequence[str], least: float) -> None:
    found = {(row.of, row.beside): row for row in rows}
    cells = [[found[of, beside] for beside in teams] for of in teams]
    means = np.array([[cell.score.mean for cell in line] for line in cells])
    axes.imshow(means, cmap="viridis", vmin=least, vmax=1)
    for y, line in enumerate(cells):
        for x, cell in enumerate(line):
            dark = (cell.score.mean - least) / (1 - least) > BRIGHT
            axes.text(x, y, _words(cell), ha="center", va="center", fontsize=9, color="black" if dark else "white")
    names = [short_name(name) for name in teams]
    axes.set_xticks(range(len(teams)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(teams)), names)


def _words(cell: CrossPlayRow) -> str:
    score = cell.score
    between = "" if score.lo is None or score.hi is None else f"\n{score.lo:.2f} to {score.hi:.2f}"
    return f"{score.mean:.2f}{between}"
