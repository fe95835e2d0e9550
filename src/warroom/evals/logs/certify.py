"""Certificates of log triage.

Serving checks what is cheap: that the severity is beyond doubt, that the callers' lines hold the root, that the oracle
solves it. Here the oracle really plays, every incident is left alone to the end of its budget, is played once more
under other service names, and is compared with every other cause that could have struck.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from warroom.core.env import Env
from warroom.core.types import ToolCall
from warroom.envs import make
from warroom.envs.logs import oracle
from warroom.envs.logs.env import LogTriage
from warroom.evals.certify import Checks, Row
from warroom.evals.logs.moves import triage_of
from warroom.evals.logs.rivals import APART, Rivals, nearest_rivals
from warroom.policies import team
from warroom.sim.blueprint import Blueprint
from warroom.sim.outages import VENDOR
from warroom.sim.topology import System

RENAMED = ("oracle", "expert")
"""Policies to whom names should mean nothing; the expert may break a tie by them."""
EXPERT, RIVAL = "expert: same score under other names", "no rival elsewhere"


@dataclass(frozen=True)
class LogsRow(Row):
    """What was found of one incident of log triage."""

    roots: tuple[str, ...]
    mechanisms: tuple[str, ...]
    severity: str
    grade: float
    """How bad it is on the scale on which a P2 begins at 0 and a P1 at 1."""
    clear: bool
    """The severity is as drawn and beyond doubt."""
    seen: bool
    """The lines of its callers hold each root above the noise."""
    solved: bool
    """The oracle solves it in the turns of its certificate, for the score of 1."""
    lasts: bool | None
    """Left alone it cannot be resolved at the end of the budget; None where nothing is wrong or a provider mends it."""
    renamed: tuple[bool, ...]
    """Whether policies get the same score when services bear other names, by policy."""
    alike: bool
    """Whether all pages of an episode are then the same, the names apart."""
    rivals: Rivals | None
    """The other causes that come nearest to explaining the logs; None where nothing is wrong."""

    LENIENT: ClassVar[frozenset[str]] = frozenset({EXPERT, RIVAL})

    def checks(self) -> Checks:
        """Lasting concerns what does not end by its nature."""
        return {
            "severity clear": [self.clear],
            "root seen": [self.seen],
            "oracle solves": [self.solved],
            "lasts": [] if self.lasts is None else [self.lasts],
            RIVAL: [] if self.rivals is None else [self.rivals.elsewhere.distance > APART],
            "same pages under other names": [self.alike],
            **{
                f"{name}: same score under other names": [same]
                for name, same in zip(RENAMED, self.renamed, strict=True)
            },
        }

    def figures(self) -> Mapping[str, float]:
        """How far the grade is from a threshold, and how near the nearest rivals come."""
        if self.rivals is None:
            return {}
        return {
            "grade beyond a threshold": min(abs(self.grade), abs(self.grade - 1)),
            "nearest rival elsewhere, noise sd": self.rivals.elsewhere.distance,
            "nearest other cause at the root, noise sd": self.rivals.here.distance,
        }


def certify(fresh: Env, scenario: str) -> LogsRow:
    """Certify the incident of a fresh env."""
    env, truth = triage_of(fresh), fresh.truth()
    impact = env.certificate.impact
    return LogsRow(
        scenario, env.tier, env.seed, env.redraws, tuple(truth["roots"]), tuple(truth["mechanisms"]), truth["severity"],
        grade=round(impact.grade, 3),
        clear=env.certificate.clear,
        seen=env.certificate.seen,
        solved=solves(env, scenario),
        lasts=lasts(env, scenario),
        renamed=tuple(same_under_other_names(env, scenario, name) for name in RENAMED),
        alike=same_pages(env, scenario),
        rivals=nearest_rivals(env) if truth["roots"] else None,
    )  # fmt: skip


def again(env: LogTriage, scenario: str) -> LogTriage:
    """The same incident from its beginning: on its own system, whatever it was drawn from."""
    return _on(env, scenario, blueprint_of(env.incident.system))


def _on(env: LogTriage, scenario: str, blueprint: Blueprint) -> LogTriage:
    return triage_of(make(scenario, env.tier, env.seed, topology=blueprint.to_json()))


def score(env: LogTriage, policy: str) -> float:
    """What a shipped policy gets."""
    seat = team(env.name, policy).seat(env, env.seat)
    while not env.done:
        env.step(seat.act(env.observe()))
    return env.score()


def solves(env: LogTriage, scenario: str) -> bool:
    """Whether the oracle solves it as its certificate says."""
    played = again(env, scenario)
    return score(played, "oracle") == 1.0 and played.turn == played.certificate.oracle_turns


def lasts(env: LogTriage, scenario: str) -> bool | None:
    """Whether it is still there at the end of the budget if nobody does anything."""
    incident = env.incident
    if not incident.faults or any(fault.mechanism is VENDOR for fault in incident.faults):
        return None
    played = again(env, scenario)
    score(played, "noop")
    return not oracle.can_resolve(played.world)


def same_under_other_names(env: LogTriage, scenario: str, policy: str) -> bool:
    """Whether a policy gets the same score when services bear other names, in another order of the alphabet."""
    own = blueprint_of(env.incident.system)
    return score(_on(env, scenario, own), policy) == score(_on(env, scenario, renamed(own, "unit")), policy)


def same_pages(env: LogTriage, scenario: str) -> bool:
    """Whether one who does nothing reads the same under names of either kind, which are no words of any phrase."""
    own = blueprint_of(env.incident.system)
    one, other = renamed(own, "unit"), renamed(own, "node", backwards=True)
    called = dict(zip(one.names, other.names, strict=True))
    before, after = (read(_on(env, scenario, blueprint)) for blueprint in (one, other))
    return [re.sub(r"unit-\d\d", lambda found: called[found.group()], text) for text in before] == after


def read(env: LogTriage) -> list[str]:
    """Every page, and the logs of one service after another."""
    pages, names = list[str](), env.catalogue.names
    while not env.done:
        pages.append(env.observe().render())
        env.step(ToolCall("request_more_logs", {"service": names[env.turn % len(names)]}))
    return pages


def blueprint_of(system: System) -> Blueprint:
    """The call graph of a system."""
    return Blueprint(system.names, system.kinds, tuple(system.wires))


def renamed(blueprint: Blueprint, word: str, backwards: bool = False) -> Blueprint:
    """The same call graph under names that tell nothing, forwards or backwards in the alphabet."""
    size = len(blueprint.names)
    numbers = reversed(range(size)) if backwards else range(size)
    return Blueprint(tuple([f"{word}-{number:02d}" for number in numbers]), blueprint.kinds, blueprint.calls)
