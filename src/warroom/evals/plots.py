"""The pictures of a run, drawn from its summary. Colours are Okabe and Ito's, which colour-blind readers tell apart."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warroom.core.scenario import TIERS
from warroom.evals.extras import MissingExtra

try:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
except ImportError as error:
    raise MissingExtra("plots", error) from error

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D00")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
INK, GRID = "#222222", "#DDDDDD"
STYLE: dict[Any, Any] = {
    "font.size": 13,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 15,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "figure.facecolor": "white",
    "savefig.dpi": 130,
}

Row = Mapping[str, Any]
Draw = Callable[[Sequence[Row]], "Figure | None"]


def draw_all(summary: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw every picture that the summary has the metrics for; returns their files."""
    pooled = [row for row in summary["rows"] if row["scenario"] is None]
    out = []
    for name, draw in PICTURES.items():
        with plt.rc_context(STYLE):
            figure = draw(pooled)
            if figure is None:
                continue
            # Without the software's version in the file, the same numbers give the same bytes.
            figure.savefig(folder / name, metadata={"Software": None})
            plt.close(figure)
        out.append(folder / name)
    return out


def comparison(pooled: Sequence[Row]) -> Figure:
    """Mean points by tier, one line per policy, with 95 % intervals."""
    tiers, policies = _tiers(pooled), _policies(pooled)
    figure, axes = plt.subplots(figsize=(10, 6), layout="constrained")
    for number, policy in enumerate(policies):
        rows = [row for row in pooled if row["policy"] == policy]
        # A little apart, so that intervals do not hide one another.
        places = [tiers.index(row["tier"]) + 0.05 * (number - (len(policies) - 1) / 2) for row in rows]
        means = [row["points"]["mean"] for row in rows]
        axes.errorbar(places, means, yerr=_arms([row["points"] for row in rows]), **_look(number), lw=2.5, capsize=5)
    ends = {policy: [r for r in pooled if r["policy"] == policy][-1]["points"]["mean"] for policy in policies}
    axes.axhline(0, color=INK, lw=1, zorder=0)
    axes.set_xticks(range(len(tiers)), tiers)
    axes.set_xlim(-0.3, len(tiers) - 0.75)
    axes.set_ylabel("points per episode")
    axes.set_title("Mean points by tier" + _count(pooled))
    axes.grid(axis="y", color=GRID)
    _label_ends(axes, len(tiers) - 0.75, ends)
    return figure


def rogue(pooled: Sequence[Row]) -> Figure | None:
    """Rogues caught against innocents flagged, one point per policy and tier; None where no rogue could be caught."""
    rows = [row for row in pooled if row["rogue_catch"] and row["rogue_false_positive"]]
    if not rows:
        return None
    policies, tiers = _policies(rows), _tiers(rows)
    figure, axes = plt.subplots(figsize=(9, 8), layout="constrained")
    for number, policy in enumerate(policies):
        own = [row for row in rows if row["policy"] == policy]
        across, up = [row["rogue_false_positive"] for row in own], [row["rogue_catch"] for row in own]
        places, heights = [x["mean"] for x in across], [y["mean"] for y in up]
        axes.errorbar(
            places, heights, yerr=_arms(up), xerr=_arms(across), **_look(number), lw=0, elinewidth=1, label=policy
        )
        axes.plot(places, heights, color=_look(number)["color"], lw=1, ls=":")
        for row, x, y in zip(own, places, heights, strict=True):
            axes.annotate(
                row["tier"][0].upper(), (x, y), color="white", ha="center", va="center", weight="bold", size=10
            )
    axes.plot([0, 1], [0, 1], color=GRID, zorder=0)
    axes.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04))
    axes.set_xlabel("share of episodes in which an innocent agent was flagged")
    axes.set_ylabel("share of rogues caught")
    axes.set_title("Catching rogues without crying wolf")
    axes.grid(color=GRID)
    letters = ", ".join(f"{tier[0].upper()} {tier}" for tier in tiers)
    axes.legend(title=letters, loc="lower right", frameon=True)
    return figure


PICTURES: dict[str, Draw] = {"comparison.png": comparison, "rogue.png": rogue}
"""Every picture of a run by its file name."""


def _policies(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["policy"] for row in rows))


def _tiers(rows: Sequence[Row]) -> list[str]:
    return [tier for tier in TIERS if any(row["tier"] == tier for row in rows)]


def _count(rows: Sequence[Row]) -> str:
    counts = sorted({row["n"] for row in rows})
    return f" (n = {counts[0]} episodes a point)" if len(counts) == 1 else ""


def _look(number: int) -> dict[str, Any]:
    return {"color": PALETTE[number % len(PALETTE)], "marker": MARKERS[number % len(MARKERS)], "markersize": 9}


def _arms(estimates: Sequence[Row]) -> list[list[float]]:
    """How far each interval reaches below and above its mean; 0 where there is none."""
    below = [e["mean"] - (e["mean"] if e["lo"] is None else e["lo"]) for e in estimates]
    above = [(e["mean"] if e["hi"] is None else e["hi"]) - e["mean"] for e in estimates]
    return [below, above]


def _label_ends(axes: Axes, place: float, ends: Mapping[str, float]) -> None:
    """Write each policy's name beside the end of its line, moved apart where lines end close together."""
    low, high = axes.get_ylim()
    gap, height = (high - low) * 0.055, float("-inf")
    for policy, end in sorted(ends.items(), key=lambda item: item[1]):
        height = max(end, height + gap)
        color = PALETTE[list(ends).index(policy) % len(PALETTE)]
        axes.text(place, height, policy, color=color, weight="bold", va="center")
