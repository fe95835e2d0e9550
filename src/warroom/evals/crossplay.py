"""Cross-play: each seat of one team beside the other seats of another, and what that changes."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from warroom.core.scenario import TIERS
from warroom.core.types import JsonObject
from warroom.envs import env_spec
from warroom.evals.metrics import Result
from warroom.evals.plots import GRID, INK, STYLE, short_name
from warroom.evals.statistics import Difference, Estimate, mean, paired
from warroom.policies.names import REST, parse_seats

TABLE, PICTURE = "crossplay.csv", "crossplay.png"
DARK = 0.55
"""Change above which a cell is too dark for dark text."""


class SeatExchange(NamedTuple):
    """A team in which one seat is played by another team."""

    team: str
    """Who plays the other seats."""
    seat: str
    guest: str
    """Who plays this one."""

    @property
    def policy(self) -> str:
        """As `warroom eval` names it."""
        return f"{self.seat}={self.guest},{REST}={self.team}"


class ExchangeRow(NamedTuple):
    """What an exchange comes to on a tier."""

    exchange: SeatExchange
    tier: str
    score: Estimate
    gain: Difference
    """Score less that of the team by itself, paired by incident."""

    def to_json(self) -> JsonObject:
        """As `summary.json` has it."""
        gain = self.gain
        difference = {"mean": gain.mean, "lo": gain.lo, "hi": gain.hi}
        return {
            "tier": self.tier, **self.exchange._asdict(), "incidents": gain.incidents, "score": self.score.to_json(),
            "gain": difference, "p": gain.p,
        }  # fmt: skip


def exchanges(env: str, teams: Sequence[str]) -> list[SeatExchange]:
    """Every seat of every team in every other; a `ValueError` for fewer than two teams or one that is a mixture."""
    names = list(dict.fromkeys(teams))
    if len(names) < 2:
        raise ValueError(f"cross-play needs two teams or more, got {', '.join(names) or 'none'}")
    seats = env_spec(env).seats
    if len(seats) < 2:
        raise ValueError(f"{env} has one seat; cross-play needs an environment with several, such as fleet")
    for name in names:
        if len(set(parse_seats(name, seats).values())) > 1 or "," in name:
            raise ValueError(f"a team of cross-play plays all seats by one policy, got {name!r}")
    return [SeatExchange(team, seat, guest) for team in names for seat in seats for guest in names if guest != team]


def policies_of(env: str, teams: Sequence[str]) -> tuple[str, ...]:
    """All that has to be played: the teams by themselves, and every exchange."""
    return (*dict.fromkeys(teams), *[exchange.policy for exchange in exchanges(env, teams)])


def teams_of(env: str, policies: Sequence[str]) -> list[str]:
    """The teams of a run, if what it plays is their cross-play; else none."""
    teams = [name for name in policies if "," not in name]
    try:
        return teams if set(policies) == set(policies_of(env, teams)) else []
    except ValueError:
        return []


def crossplay_rows(results: Iterable[Result], env: str, teams: Sequence[str]) -> list[ExchangeRow]:
    """The table of the results of `policies_of`."""
    found: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        found.setdefault((result.policy, result.tier), []).append(result)
    tiers = [tier for tier in TIERS if (teams[0], tier) in found]
    return [
        _row(exchange, tier, found[exchange.policy, tier], found[exchange.team, tier])
        for tier in tiers
        for exchange in exchanges(env, teams)
    ]


def _row(exchange: SeatExchange, tier: str, mixed: Sequence[Result], alone: Sequence[Result]) -> ExchangeRow:
    by_incident = {result.incident: result.score for result in alone}
    incidents = [result.incident for result in mixed]
    scores = [result.score for result in mixed]
    gain = paired(scores, [by_incident[incident] for incident in incidents], incidents, f"{exchange.policy} {tier}")
    return ExchangeRow(exchange, tier, mean(scores, incidents), gain)


def crossplay_csv(rows: Sequence[ExchangeRow]) -> str:
    """One line an exchange and tier."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["tier", "team", "seat", "guest", "incidents", "score", "lo", "hi", "gain", "gain_lo", "gain_hi", "p"]
    )
    for row in rows:
        gain, numbers = row.gain, [*row.score, row.gain.mean, row.gain.lo, row.gain.hi, row.gain.p]
        shown = ["" if number is None else f"{number:.6g}" for number in numbers]
        writer.writerow([row.tier, *row.exchange, gain.incidents, *shown])
    return text.getvalue()


def draw_crossplay(rows: Sequence[ExchangeRow], folder: Path) -> Path:
    """A panel a tier: gains by team and guest (rows) and seat (columns)."""
    with plt.rc_context(STYLE):
        figure = _figure(rows)
        figure.savefig(folder / PICTURE, metadata={"Software": None})
        plt.close(figure)
    return folder / PICTURE


def _figure(rows: Sequence[ExchangeRow]) -> Figure:
    tiers = list(dict.fromkeys(row.tier for row in rows))
    seats = list(dict.fromkeys(row.exchange.seat for row in rows))
    pairs = list(dict.fromkeys((row.exchange.team, row.exchange.guest) for row in rows))
    size = (2.5 + 1.5 * len(seats) * len(tiers), 1.6 + 0.6 * len(pairs))
    figure, panels = plt.subplots(1, len(tiers), figsize=size, squeeze=False, sharey=True, layout="constrained")
    for axes, tier in zip(panels[0], tiers, strict=True):
        gains: Mapping[tuple[str, str, str], ExchangeRow] = {row.exchange: row for row in rows if row.tier == tier}
        table = [[gains[team, seat, guest].gain for seat in seats] for team, guest in pairs]
        axes.imshow([[gain.mean for gain in line] for line in table], cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
        for y, line in enumerate(table):
            for x, gain in enumerate(line):
                sure = "" if gain.lo is None or gain.hi is None else f"\n{gain.lo:+.2f} to {gain.hi:+.2f}"
                axes.text(
                    x,
                    y,
                    f"{gain.mean:+.2f}{sure}",
                    ha="center",
                    va="center",
                    fontsize=8,
                    color="white" if abs(gain.mean) > DARK else INK,
                )
        axes.set_title(tier)
        axes.set_xticks(range(len(seats)), seats)
        axes.set_yticks(range(len(pairs)), [f"{short_name(guest)}\nin {short_name(team)}" for team, guest in pairs])
        axes.tick_params(color=GRID)
    figure.suptitle("Change of the team's score when a guest plays one seat", fontsize=13)
    return figure
