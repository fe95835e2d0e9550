"""The learning curve: one picture of a training run, drawn from its steps. Colours are Okabe and Ito's."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warroom.core.errors import MissingExtra
from warroom.core.scenario import TIERS
from warroom.train.steps import Measure, Row, mean, moving, phases, read_steps, tier_rewards

try:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import MaxNLocator, PercentFormatter
except ImportError as error:
    raise MissingExtra("plots", error) from error

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

CURVE = "learning_curve.png"
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6D00", "#56B4E9", "#E69F00", "#000000")
TIER_COLORS = dict(zip(TIERS, ("#009E73", "#B07A00", "#D55E00"), strict=True))
INK, GRID, SOFT = "#222222", "#DDDDDD", "#777777"
STYLE: "dict[RcKeyType, object]" = {
    "font.size": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "legend.frameon": True,
    "legend.framealpha": 0.85,
    "legend.edgecolor": "none",
    "legend.fontsize": 11,
    "figure.facecolor": "white",
    "savefig.dpi": 130,
}
LAYOUT = (("rewards", "rewards"), ("terms", "seconds"), ("entropy", "kl"), ("calls", "teaching"))
MOST_PHASES = 8
"""Phases that are still shaded; an adaptive curriculum has more, and gets a line per tier instead."""
PARTS = {"generation": "#56B4E9", "environment": "#D55E00", "update": "#0072B2"}
"""Parts of a step's time, from the bottom of the stack."""

Draw = Callable[[Axes, Sequence[Row]], None]


def learning_curve(folder: Path) -> Path:
    """Draw `learning_curve.png` of a run folder from its `steps.jsonl`; a `ValueError` if no step was made."""
    rows = read_steps(folder)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplot_mosaic(
            [list(row) for row in LAYOUT],
            figsize=(13, 15),
            height_ratios=(1.9, 1, 1, 1),
            layout="constrained",
        )
        for name, draw in PANELS.items():
            draw(axes[name], rows)
            _frame(axes[name], rows)
        figure.get_layout_engine().set(h_pad=0.12, w_pad=0.12)  # type: ignore[union-attr, call-arg]
        figure.savefig(folder / CURVE, metadata={"Software": None})
        plt.close(figure)
    return folder / CURVE


def _frame(axes: Axes, rows: Sequence[Row]) -> None:
    first, last = rows[0]["step"], rows[-1]["step"]
    axes.set_xlim(first - 0.5, last + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="y", color=GRID, lw=0.8, zorder=0)
    axes.set_axisbelow(True)
    axes.set_xlabel("step", color=SOFT)


def _steps(rows: Sequence[Row]) -> list[int]:
    return [row["step"] for row in rows]


def rewards(axes: Axes, rows: Sequence[Row]) -> None:
    """Reward with its spread over rollouts, and the phases of the curriculum with their means."""
    steps, values = _steps(rows), [row["reward"] for row in rows]
    spread = [row.get("reward_std") or 0.0 for row in rows]
    low, high = ([v + sign * s for v, s in zip(values, spread, strict=True)] for sign in (-1, 1))
    axes.fill_between(steps, low, high, color=PALETTE[0], alpha=0.13, lw=0, label="± 1 sd over rollouts")
    axes.plot(steps, values, color=PALETTE[0], alpha=0.4, lw=1, label="mean of the step")
    axes.plot(steps, moving(values), color=PALETTE[0], lw=3, label="mean of 10 steps")
    axes.axhline(0, color=INK, lw=1, zorder=1)
    axes.set_ylabel("score (0: do nothing, 1: oracle)")
    bottom, top = min(-0.05, *low), max(0.05, *high)
    # Room for the names of the phases above, and for the legend below.
    axes.set_ylim(bottom - 0.1 * (top - bottom), top + 0.16 * (top - bottom))
    parts = phases(rows)
    if len(parts) <= MOST_PHASES:
        _shade(axes, parts)
    else:
        _tier_lines(axes, rows)
    axes.set_title(f"Reward of {len(rows)} steps", fontsize=17)
    axes.legend(loc="lower right", ncols=3)


def _shade(axes: Axes, parts: Sequence[tuple[str, Sequence[Row]]]) -> None:
    """A band of colour for each phase, with its tier and mean above it."""
    for tier, part in parts:
        start, end = part[0]["step"] - 0.5, part[-1]["step"] + 0.5
        color, average = TIER_COLORS[tier], mean(row["reward"] for row in part)
        axes.axvspan(start, end, color=color, alpha=0.09, lw=0, zorder=0)
        axes.hlines(average, start, end, color=color, lw=2, ls=(0, (4, 2)), zorder=3)
        label = axes.text(
            (start + end) / 2, 0.975, f"{tier}\nmean {average:+.2f}", transform=axes.get_xaxis_transform(),
            ha="center", va="top", color=color, weight="bold", linespacing=1.3,
        )  # fmt: skip
        label.set_path_effects([withStroke(linewidth=4, foreground="white")])


def _tier_lines(axes: Axes, rows: Sequence[Row]) -> None:
    """Each tier's own moving mean, for curricula that go to and fro."""
    for tier in tier_rewards(rows):
        own = [row for row in rows if tier in (row.get("by_tier") or {row["tier"]: row["reward"]})]
        values = [(row.get("by_tier") or {tier: row["reward"]})[tier] for row in own]
        label = f"{tier}, mean {mean(values):+.2f}"
        axes.plot(_steps(own), moving(values), color=TIER_COLORS[tier], lw=2, label=label)


def terms(axes: Axes, rows: Sequence[Row]) -> None:
    """Points of each term of the rubric."""
    names = list(dict.fromkeys(name for row in rows for name in row.get("terms") or {}))
    for number, name in enumerate(names):
        own = [row for row in rows if name in (row.get("terms") or {})]
        values = [row["terms"][name] for row in own]
        axes.plot(_steps(own), moving(values), color=PALETTE[number % len(PALETTE)], lw=2, label=name)
    axes.axhline(0, color=INK, lw=1, zorder=1)
    axes.set_title("Points by term" + _averaged(rows))
    if names:
        axes.set_ylim(axes.get_ylim()[0], axes.get_ylim()[1] + 0.35 * (axes.get_ylim()[1] - axes.get_ylim()[0]))
        axes.legend(loc="upper left", ncols=len(names), columnspacing=1, handlelength=1)


def teaching(axes: Axes, rows: Sequence[Row]) -> None:
    """The share of groups in which all rollouts earned the same: they teach nothing."""
    _line(axes, rows, "zero_variance_groups", PALETTE[3])
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_title("Groups without a difference")


def measure(axes: Axes, rows: Sequence[Row], *, name: Measure, color: str, title: str) -> None:
    """One measure from zero up, where it was taken."""
    _line(axes, rows, name, color)
    axes.set_ylim(0, max(0.1, 1.08 * axes.get_ylim()[1]))
    axes.set_title(title)


def seconds(axes: Axes, rows: Sequence[Row]) -> None:
    """Where the time of a step goes."""
    steps = _steps(rows)
    heights = [moving([row["seconds"].get(part) or 0.0 for row in rows]) for part in PARTS]
    whole = sum(sum(row["seconds"].get(part) or 0.0 for part in PARTS) for row in rows)
    names = [
        f"{part} {sum(row['seconds'].get(part) or 0.0 for row in rows) / whole:.1%}" if whole else part
        for part in PARTS
    ]
    axes.stackplot(steps, heights, colors=list(PARTS.values()), labels=names, alpha=0.85, lw=0)
    top = max(map(sum, zip(*heights, strict=True)))
    axes.set_ylim(0, 1.35 * top if top else 1)
    axes.set_title("Seconds a step" + _averaged(rows))
    axes.legend(loc="upper right", ncols=3, columnspacing=1, handlelength=1)


PANELS: Mapping[str, Draw] = {
    "rewards": rewards,
    "terms": terms,
    "teaching": teaching,
    "kl": partial(measure, name="kl", color=PALETTE[1], title="KL divergence from the start, nats a token"),
    "entropy": partial(measure, name="entropy", color=PALETTE[0], title="Entropy, nats a token"),
    "calls": partial(measure, name="calls_per_rollout", color=PALETTE[2], title="Tool calls a rollout"),
    "seconds": seconds,
}
"""Every panel by its place in the layout."""


def _line(axes: Axes, rows: Sequence[Row], name: Measure, color: str) -> None:
    """A measure by step, faint, with its moving mean; says so where it was not taken."""
    own = [(row["step"], value) for row in rows if (value := row.get(name)) is not None]
    if not own:
        axes.text(0.5, 0.5, "not measured in this run", transform=axes.transAxes, ha="center", color=SOFT)
        axes.set_yticks([])
        return
    steps, values = [step for step, _ in own], [value for _, value in own]
    axes.plot(steps, values, color=color, alpha=0.35, lw=1)
    axes.plot(steps, moving(values), color=color, lw=2.2)


def _averaged(rows: Sequence[Row]) -> str:
    return ", mean of 10 steps" if len(rows) > 1 else ""
