"""How generated incidents of log triage look, beside what recordings show (recorded_look.py). A minute on one core."""

import sys
from collections.abc import Iterator
from statistics import median, quantiles
from typing import NamedTuple

from warroom.core.scenario import TIERS
from warroom.core.splits import seed_of
from warroom.core.types import ToolCall
from warroom.envs import make, suite
from warroom.envs.logs.env import LogsEnv
from warroom.envs.logs.incident import BEFORE
from warroom.envs.logs.views import ALL, LogsObservation
from warroom.sim.world import Snapshot

INCIDENTS = int(sys.argv[1]) if len(sys.argv) > 1 else 60
TOPOLOGY = sys.argv[2] if len(sys.argv) > 2 else "document"
TURNS = 4
"""Pages that are read of each incident."""
SOME = 0.5
"""Expected lines a minute from which a service counts as one that writes any."""


HEADINGS = (
    "tier", "scenario", "ERROR %", "WARN %", "ERROR % before", "WARN % before", "silent roots %", "services with ERROR",
    "lines per request", "words, first page", "words, later page", "with duration %", "noise %, declared / measured",
)  # fmt: skip


class Look(NamedTuple):
    """One incident; shares are of lines, 0 to 1."""

    errors: float
    """Share at ERROR in the minute of the page."""
    warnings: float
    quiet_errors: float
    """Share at ERROR in a minute before the trouble."""
    quiet_warnings: float
    silent: list[bool]
    """Of each root: whether it writes no ERROR in the minute of the page."""
    noisy_service: int
    """Services that write any ERROR in that minute."""
    per_request: float
    """Lines of all services for each user request."""
    first_words: int
    later_words: float
    """Words of the first page, and of a later one."""
    timed: float
    """Share of the lines on pages that state a duration."""
    unrelated: float | None
    """Share of the lines on pages that have nothing to do with the trouble; None where there is none."""
    declared: float


def look(env: LogsEnv) -> Look:
    """Measure an incident, asking for all logs each turn."""
    stream, snapshots = env.stream, env.world.snapshots
    rows, before = stream.written(0), stream.written(BEFORE)
    pages = list(read(env))
    words = [len(page.render().split()) for page in pages]
    lines = [line for page in pages for line in page.lines]
    shown = env.related + env.unrelated
    return Look(
        share([row.errors for row in rows], [row.lines for row in rows]),
        share([row.warnings for row in rows], [row.lines for row in rows]),
        share([row.errors for row in before], [row.lines for row in before]),
        share([row.warnings for row in before], [row.lines for row in before]),
        [rows[root].errors < SOME for root in env.incident.roots],
        sum(row.errors >= SOME for row in rows),
        sum(row.lines for row in rows) / requests(env, snapshots[0]),
        words[0],
        sum(words[1:]) / max(1, len(words) - 1),
        sum(line.milliseconds is not None for line in lines) / len(lines),
        env.unrelated / shown if shown else None,
        env.incident.noise,
    )


def read(env: LogsEnv) -> Iterator[LogsObservation]:
    """The first pages of an incident."""
    for _ in range(TURNS):
        yield env.observation()
        env.step(ToolCall("request_more_logs", {"service": ALL}))


def requests(env: LogsEnv, snapshot: Snapshot) -> float:
    """User requests of a minute whose lines the pipeline keeps."""
    return 60 * env.incident.sampling_rate * snapshot.load[0]


def share(part: list[float], whole: list[float]) -> float:
    return sum(part) / sum(whole)


def middle(values: list[float], scale: float = 1.0) -> str:
    """Median and the range of the middle nine tenths."""
    cuts = quantiles(values, n=20)
    return f"{scale * median(values):.2f} ({scale * cuts[0]:.2f} to {scale * cuts[-1]:.2f})"


def row(tier: str, scenario: str, looks: list[Look]) -> str:
    """One row of the table."""
    roots = [silent for found in looks for silent in found.silent]
    measured = [found.unrelated for found in looks if found.unrelated is not None]
    cells = [
        tier, scenario.removeprefix("logs/"),
        middle([found.errors for found in looks], 100), middle([found.warnings for found in looks], 100),
        middle([found.quiet_errors for found in looks], 100), middle([found.quiet_warnings for found in looks], 100),
        f"{100 * sum(roots) / len(roots):.0f}" if roots else "-",
        middle([float(found.noisy_service) for found in looks]), middle([found.per_request for found in looks]),
        f"{median([found.first_words for found in looks]):.0f}",
        f"{median([found.later_words for found in looks]):.0f}",
        f"{100 * sum([found.timed for found in looks]) / len(looks):.0f}",
        f"{100 * looks[0].declared:.0f} / {100 * sum(measured) / len(measured):.1f}" if measured else "all / -",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> None:
    print(f"| {' | '.join(HEADINGS)} |")
    print("|---" * len(HEADINGS) + "|")
    for tier in TIERS:
        for scenario in suite("logs", "full"):
            looks = []
            for k in range(INCIDENTS):
                env = make(scenario, tier, seed_of("dev", k), topology=TOPOLOGY)
                assert isinstance(env, LogsEnv)
                looks.append(look(env))
            print(row(tier, scenario, looks), flush=True)


if __name__ == "__main__":
    main()
