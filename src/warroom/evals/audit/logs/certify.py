"""Certificates of log triage.

At run time only cheap checks are made: that the severity is unambiguous, that the callers' lines show the root, that
the oracle solves it. Here the oracle really plays, every incident also runs to the end of its budget without
intervention, is played under other service names, and is compared with every other possible cause.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from warroom.core.env import Env
from warroom.core.types import ToolCall
from warroom.envs import make
from warroom.envs.logs import oracle
from warroom.envs.logs.env import LogsEnv
from warroom.evals.audit.certify import CertificateRow, Checks
from warroom.evals.audit.logs.alternative_causes import MIN_DISTANCE, NearestAlternatives, find_nearest_alternatives
from warroom.evals.audit.outcomes import narrowed, play_out
from warroom.policies import policy_set
from warroom.sim.outages import VENDOR
from warroom.sim.service_topology import ServiceTopology
from warroom.sim.topology import ServiceSystem

RENAMED_POLICIES = ("oracle", "expert")
"""Policies whose results should not depend on names; the expert may break a tie by them."""
EXPERT_CHECK, ALTERNATIVE_CHECK = "expert: same score under other names", "no alternative elsewhere"


@dataclass(frozen=True)
class LogsRow(CertificateRow):
    """The findings on one incident of log triage."""

    roots: tuple[str, ...]
    mechanisms: tuple[str, ...]
    severity: str
    grade: float
    """Impact on the scale on which a P2 begins at 0 and a P1 at 1."""
    clear: bool
    """The severity is as drawn and unambiguous."""
    seen: bool
    """The lines of its callers show each root above the noise."""
    solved: bool
    """The oracle solves it in the turns of its certificate, for the score of 1."""
    persists: bool | None
    """Without intervention it cannot be resolved at the end of the budget; None where nothing is wrong or a provider
    fixes it."""
    renamed: tuple[bool, ...]
    """Whether policies get the same score when services bear other names, by policy."""
    same_observations: bool
    """Whether all observations of an episode are then the same, the names apart."""
    alternative_causes: NearestAlternatives | None
    """The other causes that explain the logs best; None where nothing is wrong."""

    AGGREGATE_ONLY: ClassVar[frozenset[str]] = frozenset({EXPERT_CHECK, ALTERNATIVE_CHECK})

    def checks(self) -> Checks:
        """`persists` concerns faults that do not end by themselves."""
        return {
            "severity clear": [self.clear],
            "root seen": [self.seen],
            "oracle solves": [self.solved],
            "persists": [] if self.persists is None else [self.persists],
            ALTERNATIVE_CHECK: []
            if self.alternative_causes is None
            else [self.alternative_causes.elsewhere.distance > MIN_DISTANCE],
            "same observations under other names": [self.same_observations],
            **{
                f"{name}: same score under other names": [same]
                for name, same in zip(RENAMED_POLICIES, self.renamed, strict=True)
            },
        }

    def metrics(self) -> Mapping[str, float]:
        """Distance of the grade from a threshold, and of the nearest alternatives."""
        if self.alternative_causes is None:
            return {}
        return {
            "grade beyond a threshold": min(abs(self.grade), abs(self.grade - 1)),
            "nearest alternative elsewhere, noise sd": self.alternative_causes.elsewhere.distance,
            "nearest other cause at the root, noise sd": self.alternative_causes.here.distance,
        }


def certify(fresh: Env, scenario: str) -> LogsRow:
    """Certify the incident of a fresh env."""
    env, truth = narrowed(fresh, LogsEnv), fresh.truth()
    impact = env.certificate.impact
    return LogsRow(
        scenario, env.tier, env.seed, env.redraws, tuple(truth["roots"]), tuple(truth["mechanisms"]), truth["severity"],
        grade=round(impact.grade, 3),
        clear=env.certificate.clear,
        seen=env.certificate.detectable,
        solved=solves(env, scenario),
        persists=persists(env, scenario),
        renamed=tuple(same_under_other_names(env, scenario, name) for name in RENAMED_POLICIES),
        same_observations=same_pages(env, scenario),
        alternative_causes=find_nearest_alternatives(env) if truth["roots"] else None,
    )  # fmt: skip


def rebuild(env: LogsEnv, scenario: str) -> LogsEnv:
    """The same incident from its beginning: on its own system, whatever it was drawn from."""
    return _on_blueprint(env, scenario, service_topology_of(env.incident.system))


def _on_blueprint(env: LogsEnv, scenario: str, service_topology: ServiceTopology) -> LogsEnv:
    return narrowed(make(scenario, env.tier, env.seed, topology=service_topology.to_json()), LogsEnv)


def score(env: LogsEnv, policy: str) -> float:
    """The score of a shipped policy."""
    return play_out(env, policy_set(env.name, policy)).score()


def solves(env: LogsEnv, scenario: str) -> bool:
    """Whether the oracle solves it as its certificate says."""
    played = rebuild(env, scenario)
    return score(played, "oracle") == 1.0 and played.turn == played.certificate.oracle_turns


def persists(env: LogsEnv, scenario: str) -> bool | None:
    """Whether it is still there at the end of the budget without any action."""
    incident = env.incident
    if not incident.faults or any(fault.mechanism is VENDOR for fault in incident.faults):
        return None
    played = rebuild(env, scenario)
    score(played, "noop")
    return not oracle.can_resolve(played.world)


def same_under_other_names(env: LogsEnv, scenario: str, policy: str) -> bool:
    """Whether a policy gets the same score when services bear other names, in another order of the alphabet."""
    own = service_topology_of(env.incident.system)
    return score(_on_blueprint(env, scenario, own), policy) == score(
        _on_blueprint(env, scenario, renamed(own, "unit")), policy
    )


def same_pages(env: LogsEnv, scenario: str) -> bool:
    """Whether all logs are the same under two sets of names, neither of which occurs in any phrase."""
    own = service_topology_of(env.incident.system)
    one, other = renamed(own, "unit"), renamed(own, "node", backwards=True)
    called = dict(zip(one.names, other.names, strict=True))
    before, after = (read_all(_on_blueprint(env, scenario, service_topology)) for service_topology in (one, other))
    return [re.sub(r"unit-\d\d", lambda found: called[found.group()], text) for text in before] == after


def read_all(env: LogsEnv) -> list[str]:
    """Every observation while the logs of one service after another are requested."""
    pages, names = list[str](), env.catalogue.names
    while not env.done:
        pages.append(env.observe().render())
        env.step(ToolCall("request_more_logs", {"service": names[env.turn % len(names)]}))
    return pages


def service_topology_of(system: ServiceSystem) -> ServiceTopology:
    """The call graph of a system."""
    return ServiceTopology(system.names, system.kinds, tuple(system.links))


def renamed(service_topology: ServiceTopology, word: str, backwards: bool = False) -> ServiceTopology:
    """The same call graph under uninformative names, forwards or backwards in the alphabet."""
    size = len(service_topology.names)
    numbers = reversed(range(size)) if backwards else range(size)
    return ServiceTopology(
        tuple([f"{word}-{number:02d}" for number in numbers]), service_topology.kinds, service_topology.calls
    )
