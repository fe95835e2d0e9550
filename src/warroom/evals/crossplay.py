"""Cross-play: each seat of one team beside the other seats of another. Does a seat play well, or only with its own?"""

import csv
import io
from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

from warroom.core.scenario import TIERS
from warroom.evals.metrics import Result, result_of
from warroom.evals.statistics import Estimate, mean
from warroom.policies.names import HF, REST, is_llm
from warroom.runs import SUMMARY, read_episodes, write_text

CROSSPLAY = "crossplay.csv"
MODEL = "model"
"""The folder of a training run in which its model lies."""


class Team(NamedTuple):
    """A team by the name of what plays all of its seats."""

    name: str
    """For people: a run's folder, or a policy's name."""
    policy: str


class Mixed(NamedTuple):
    """One seat of a team beside the other seats of another; the team alone where both are one."""

    seat: str
    of: Team
    beside: Team

    @property
    def policies(self) -> str:
        """Who plays which seat, as an evaluation takes it."""
        own = self.of.policy
        return own if self.of == self.beside else f"{self.seat}={own},{REST}={self.beside.policy}"


class CrossPlayRow(NamedTuple):
    """One cell of the matrix: mean scores (0 the no-op team, 1 the oracle) with their intervals."""

    tier: str
    seat: str
    of: str
    beside: str
    score: Estimate
    incidents: int


def team_of(text: str) -> Team:
    """A team from the folder of a training run, or from a policy's name; a `ValueError` for a run without a model."""
    folder = Path(text)
    if (folder / MODEL).is_dir():
        return Team(text, f"{HF}{folder / MODEL}")
    if folder.is_dir():
        raise ValueError(f"{text} holds no {MODEL}/: name a training run that has ended ({SUMMARY}), or a policy")
    if is_llm(text):
        raise ValueError(f"cross-play plays no models behind a server; play {text!r} by warroom eval")
    if "," in text or ";" in text or ("=" in text and not text.startswith(HF)):
        raise ValueError(f"a team of cross-play is one policy in all seats; got {text!r}")
    return Team(text, text)


def mixed_teams(teams: Sequence[Team], seats: Sequence[str]) -> list[Mixed]:
    """Every seat of each team beside the others of each; a `ValueError` if there is nothing to cross."""
    if len(set(teams)) < 2 or len(set(teams)) < len(teams):
        raise ValueError(f"cross-play needs two different teams or more; got {', '.join(team.name for team in teams)}")
    return [Mixed(seat, of, beside) for seat in seats for of in teams for beside in teams]


def crossplay_rows(mixed: Sequence[Mixed], results: Iterable[Result]) -> list[CrossPlayRow]:
    """The cells of the matrix, tier by tier. A team beside itself is one set of episodes, whichever seat is asked."""
    cells: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        cells.setdefault((result.tier, result.policy), []).append(result)
    tiers = [tier for tier in TIERS if any(found == tier for found, _ in cells)]
    return [_row(tier, one, cells[tier, one.policies]) for tier in tiers for one in mixed]


def _row(tier: str, one: Mixed, results: Sequence[Result]) -> CrossPlayRow:
    incidents = [result.incident for result in results]
    score = mean([result.score for result in results], incidents, (-inf, 1.0))
    return CrossPlayRow(tier, one.seat, one.of.name, one.beside.name, score, len(set(incidents)))


def write_crossplay(folder: Path, mixed: Sequence[Mixed]) -> list[CrossPlayRow]:
    """Write the matrix of a whole run folder as `crossplay.csv`; returns its rows."""
    rows = crossplay_rows(mixed, map(result_of, read_episodes(folder)))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["tier", "seat", "seat_of", "beside", "score", "lo", "hi", "incidents"])
    for row in rows:
        found = row.score.to_json()
        writer.writerow([*row[:4], found["mean"], found["lo"], found["hi"], row.incidents])
    write_text(folder / CROSSPLAY, text.getvalue())
    return rows
