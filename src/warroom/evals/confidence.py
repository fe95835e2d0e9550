"""The picture of stated confidence: a reliability diagram, and risk against coverage."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from warroom.core.errors import MissingExtra
from warroom.evals.calibration import reliability, risk_coverage
from warroom.evals.metrics import Result
from warroom.evals.plots import STYLE, line_styles, short_name

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.ticker import PercentFormatter
except ImportError as error:
    raise MissingExtra("plots", error) from error

Pairs = tuple[list[float], list[bool]]
"""Confidences, and whether each answer was verified."""


def confidence_pairs(results: Sequence[Result]) -> dict[str, Pairs]:
    """Stated confidences and outcomes by policy; policies that state no confidence are left out."""
    out: dict[str, Pairs] = {}
    for result in results:
        stated = result.outcome.get("confidence")
        if stated is not None:
            confidences, verified = out.setdefault(result.policy, ([], []))
            confidences.append(float(stated))
            verified.append(bool(result.outcome["solved"]))
    return out


def plot_confidence(pairs: Mapping[str, Pairs], folder: Path) -> Path:
    """Reliability on the left, risk against coverage on the right, a line for each policy."""
    path, styles = folder / "confidence.png", line_styles(list(pairs))
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(14, 6.5), layout="constrained")
        for policy, found in pairs.items():
            _reliability(left, policy, found, styles[policy])
            _risk(right, policy, found, styles[policy])
        left.plot([0, 1], [0, 1], color="#999999", lw=1, ls="--", zorder=0)
        _finish(left, "Reliability", "stated confidence", "answers that were right")
        _finish(right, "Risk against coverage", "share of tickets answered, most confident first", "of those, wrong")
        right.legend(frameon=False, fontsize=12)
        figure.savefig(path, metadata={"Software": None})
        plt.close(figure)
    return path


def _reliability(axes: Axes, policy: str, pairs: Pairs, style: Mapping[str, str]) -> None:
    bins = reliability(*pairs)
    middle = [found.verified.mean for found in bins]
    low = [found.verified.mean - (found.verified.lo or 0.0) for found in bins]
    high = [(1.0 if found.verified.hi is None else found.verified.hi) - found.verified.mean for found in bins]
    axes.errorbar(
        [b.confidence for b in bins],
        middle,
        yerr=[low, high],
        color=style["color"],
        marker=style["marker"],
        label=short_name(policy),
        lw=2,
        capsize=4,
        markersize=8,
    )


def _risk(axes: Axes, policy: str, pairs: Pairs, style: Mapping[str, str]) -> None:
    stated, right = np.asarray(pairs[0], float), np.asarray(pairs[1], float)
    coverage, risk = risk_coverage(stated, right, np.ones(len(stated)))
    axes.step(
        [0.0, *coverage.tolist()], [float(risk[0]), *risk.tolist()], where="pre", color=style["color"], lw=2.5,
        label=short_name(policy),
    )  # fmt: skip


def _finish(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set(title=title, xlabel=x, ylabel=y, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.grid(color="#DDDDDD")
