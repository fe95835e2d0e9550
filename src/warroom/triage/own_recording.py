"""A log as a recorded incident that cannot be changed, and what a policy says of it with the tools of `logs`."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from warroom.core.env import Env
from warroom.core.spec import EpisodeSpec
from warroom.core.splits import Split, seed_of
from warroom.envs import episode_spec
from warroom.envs.logs.base_env import BaseLogsEnv
from warroom.importers.incidents.recording import ArchiveWriter, ParsedIncident
from warroom.importers.topology.files import Service
from warroom.importers.topology.roles import FRONTENDS, classify_service, matches_role
from warroom.policies import PolicySet
from warroom.rollout import play
from warroom.sim.recording import OWN_LOG, RecordedLine
from warroom.triage.changes import MinuteSpan, Report
from warroom.triage.counts import OTHER_SERVICES, UNNAMED
from warroom.triage.lines import level_of
from warroom.triage.log_file import TimedRecord, records_of

MAX_RECORDED = 200_000
"""Lines that a recording holds; of a longer log, lines at equal distances."""
MAX_SERVICES = 60
"""Services that a policy can ask for: those with most lines."""
MAX_TEXT = 600
"""Characters of a line that a recording holds."""


class HitRate(NamedTuple):
    """How often a policy named the right service first, on recordings of which only the lines were shown."""

    right: int
    wrong: int
    recordings: int

    def __str__(self) -> str:
        silent = self.recordings - self.right - self.wrong
        return f"right in {self.right}, wrong in {self.wrong}, silent in {silent} of {self.recordings} recordings"


MEASURED: dict[str, HitRate] = {
    **dict.fromkeys(("loudest", "loudest_delta", "heuristic", "fusion", "expert"), HitRate(3, 7, 10)),
    **dict.fromkeys(("first_error", "keyword", "blame", "sweep"), HitRate(0, 10, 10)),
}
"""By policy, on ten recorded faults of Train Ticket, measured by recipes/triage_hit_rates.py; all name a service
in fault-free minutes too. docs/experiments/2026-11-triage-that-does-not-guess.md says how."""


class Opinion(NamedTuple):
    """What a policy said of a log. It is an opinion: nobody knows the answer."""

    policy: str
    hit_rate: str
    roots: tuple[str, ...]
    """Services where it thinks the trouble began, the likeliest first."""
    severity: str
    teams: tuple[str, ...]
    turns: int
    note: str
    """What of the log it was not shown."""


def own_spec(folder: Path) -> EpisodeSpec:
    """The episode of the one log that a folder of recordings holds."""
    return episode_spec("logs/recorded", "easy", seed_of(Split.DEV, 0), {"recording": str(folder)})


def opinion_of(spec: EpisodeSpec, policies: PolicySet, policy: str, note: str) -> Opinion:
    """What a policy says of a log that `write_recording` wrote; `note` is what that left out."""
    played: list[Env] = []
    play(spec, policies, lambda env, step, result: played.append(env))
    env = played[-1]
    assert isinstance(env, BaseLogsEnv)
    said = env.declared_values
    return Opinion(
        policy, hit_rate(policy), tuple(said["root"]), "".join(said["severity"]), tuple(said["team"]), env.turn, note
    )


def hit_rate(policy: str) -> str:
    """The measured hit rate of a policy, in words."""
    known = MEASURED.get(policy)
    return f"{known}, lines alone" if known else "not measured"


def write_recording(folder: Path, log: str, report: Report) -> str:
    """Write a log as the one incident of a folder of recordings; returns what it leaves out, or the empty text.

    A `ValueError` where the log has one window only.
    """
    if report.before is None:
        raise ValueError(f"a policy compares two windows of a log, and here is one: {report.how}")
    total = sum(sum(row.lines) for row in report.services)
    named = [row.name for row in report.services][:MAX_SERVICES]
    stride = -(-total // MAX_RECORDED)
    records = list(_recorded(log, report.before, report.now, frozenset(named), stride))
    seconds = (report.before.seconds, report.now.seconds)
    writer = ArchiveWriter(folder, OWN_LOG)
    writer.add_incident("log", ParsedIncident(report.now.start, seconds, records), None, kind_of)
    sampled = f"one of {stride} lines" if stride > 1 else ""
    grouped = (
        f"{len(report.services) - MAX_SERVICES} rarer services as one" if len(report.services) > MAX_SERVICES else ""
    )
    return ", ".join(filter(None, (sampled, grouped)))


def _recorded(
    log: str, before: MinuteSpan, now: MinuteSpan, named: Collection[str], stride: int
) -> Iterator[RecordedLine]:
    for place, found in enumerate(records_of(log)):
        window = "before" if before.start <= found.seconds < before.end else "now"
        if place % stride or not before.start <= found.seconds < now.end:
            continue
        yield _line(window, found, named)


def _line(window: str, found: TimedRecord, named: Collection[str]) -> RecordedLine:
    record = found.record
    service = record.service or UNNAMED
    service = service if service in named else OTHER_SERVICES
    return RecordedLine(window, found.seconds, service, level_of(record.level), record.text[:MAX_TEXT])


def kind_of(name: str) -> str:
    """The kind by the name alone: `user-db` is a db."""
    if matches_role(FRONTENDS, name.lower()):
        return "gateway"
    return classify_service(Service(name, "", frozenset(), {}, {}, {}, published=False)).kind
