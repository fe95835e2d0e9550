"""Certificates of log triage.

Serving checks what is cheap: that the severity is beyond doubt, that the callers' lines hold the root, that the oracle
solves it. Here the oracle really plays, every incident is left alone to the end of its budget, and is played once more
under other service names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warroom.core.env import Env
from warroom.envs import make
from warroom.envs.logs import oracle
from warroom.envs.logs.env import LogTriage
from warroom.evals.certify import Checks, Row
from warroom.evals.logs.spoilt import triage_of
from warroom.policies import team
from warroom.sim.blueprint import Blueprint
from warroom.sim.outages import VENDOR
from warroom.sim.topology import System

RENAMED = ("oracle", "expert")
"""Policies to whom names must mean nothing."""


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

    def checks(self) -> Checks:
        """Lasting concerns what does not end by its nature."""
        return {
            "severity clear": [self.clear],
            "root seen": [self.seen],
            "oracle solves": [self.solved],
            "lasts": [] if self.lasts is None else [self.lasts],
            **{f"{name}: names mean nothing": [same] for name, same in zip(RENAMED, self.renamed, strict=True)},
        }

    def figures(self) -> Mapping[str, float]:
        """The distance of the grade from the nearest threshold."""
        return {"grade beyond a threshold": min(abs(self.grade), abs(self.grade - 1))} if self.roots else {}


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
    return score(_on(env, scenario, own), policy) == score(_on(env, scenario, renamed(own)), policy)


def blueprint_of(system: System) -> Blueprint:
    """The call graph of a system."""
    return Blueprint(system.names, system.kinds, tuple(system.wires))


def renamed(blueprint: Blueprint) -> Blueprint:
    """The same call graph under names that tell nothing, the last first in the alphabet; users still arrive first."""
    size = len(blueprint.names)
    names: list[Any] = [f"unit-{size - k:02d}" for k in range(size)]
    return Blueprint(tuple(names), blueprint.kinds, blueprint.calls)
