"""`report.html`: one self-contained page of a run, readable on a phone, by day and by night."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from pathlib import Path
from typing import Any

from warroom.core.episode import Episode, Step
from warroom.evals.extras import MissingExtra
from warroom.runs import Record

try:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
except ImportError as error:
    raise MissingExtra("plots", error) from error

WORST = 6
"""Episodes that the page shows as transcripts."""
LONGEST_TEXT = 1_200
"""Characters of one text in a transcript; the run folder has the rest."""
HEADINGS = {
    "points": "points",
    "score": "score",
    "solved": "solved",
    "rogue_catch": "rogues caught",
    "rogue_false_positive": "innocents flagged",
    "wrong_fixes": "wrong fixes",
    "mttr": "minutes to resolve",
    "fixed_given_right": "solved, cause named rightly",
    "fixed_given_wrong": "solved, cause named wrongly",
    "pass_k": "solved in every attempt",
}
SHARES = frozenset(
    {"solved", "rogue_catch", "rogue_false_positive", "fixed_given_right", "fixed_given_wrong", "pass_k"}
)
_ABOUT = ("env", "scenario", "policy", "tier", "split", "n", "incidents")


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric as the page shows it."""

    mean: str
    interval: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """An episode as the page shows it."""

    episode: Episode
    steps: tuple[Step, ...]
    """The acts and readings, long texts cut."""


def write_report(folder: Path, record: Record, summary: Mapping[str, Any], worst: Sequence[Episode]) -> str:
    """The page as text; pictures are taken from `folder` as they are there."""
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    pictures = {path.stem: _inlined(path) for path in sorted(folder.glob("*.png"))}
    pooled = [row for row in summary["rows"] if row["scenario"] is None]
    return environment.get_template("report.html.jinja").render(
        record=record,
        summary=summary,
        pictures=pictures,
        columns=columns(summary["rows"]),
        pooled=pooled,
        scenarios=_by_scenario(summary["rows"]),
        worst=[Transcript(episode, tuple(map(_shortened, episode.steps))) for episode in worst],
        cell=cell,
    )


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The metrics that apply somewhere, with their headings."""
    names = [name for name in rows[0] if name not in _ABOUT]
    return {name: HEADINGS.get(name, name.replace("_", " ")) for name in names if any(row[name] for row in rows)}


def cell(row: Mapping[str, Any], metric: str) -> Cell:
    """A metric of a row in words; a dash where it does not apply."""
    estimate = row[metric]
    if estimate is None:
        return Cell("–", "")
    style = _percent if metric in SHARES else _number
    ends = [style(end) for end in (estimate["lo"], estimate["hi"]) if end is not None]
    return Cell(style(estimate["mean"]), " to ".join(ends))


def studied(policies: Sequence[str]) -> str:
    """The policy whose worst episodes the page shows: the last that is not the oracle, by custom the best meant."""
    return next((policy for policy in reversed(policies) if policy != "oracle"), policies[-1])


def worst_of(episodes: Iterable[Episode]) -> list[Episode]:
    """The lowest scores, where there is most to learn."""
    return nsmallest(WORST, episodes, key=lambda e: (e.score, e.total, e.scenario, e.tier, e.seed))


def _by_scenario(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    out: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["scenario"] is not None:
            out.setdefault(row["scenario"], []).append(row)
    return out


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def _number(value: float) -> str:
    # A true minus sign, and none before a zero.
    text = f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return text.replace("-0.00", "0.00").replace("-", "\N{MINUS SIGN}")


def _shortened(step: Step) -> Step:
    return replace(step, shown=_cut(step.shown), result=_cut(step.result))


def _cut(text: str) -> str:
    return (
        text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + f" … ({len(text) - LONGEST_TEXT} more characters)"
    )


def _inlined(path: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
