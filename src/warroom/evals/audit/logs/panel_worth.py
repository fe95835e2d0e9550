"""What the rules of the panel, the baselines and the expert earn on log triage: the gates of this environment."""

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import NamedTuple

from warroom.core.policy import PolicyFactory
from warroom.core.spec import EpisodeSpec
from warroom.core.splits import seed_of
from warroom.envs import make
from warroom.envs.logs.policies.naive import STRATEGIES, NaivePolicy
from warroom.evals.audit.exploits import policy_set_of, unprivileged
from warroom.evals.audit.gates import GateRow, Incidents
from warroom.evals.audit.logs.panel import PANEL
from warroom.evals.audit.outcomes import play_out
from warroom.evals.statistics import Estimate, mean, share
from warroom.policies import PolicySet, policy_set

TIERS = ("easy", "medium", "hard")
SHORTCUTS = (0.55, 0.50, 0.45)
"""The most that a rule of the panel may score, by tier."""
EXPERT_SCORE = (0.93, 0.90, 0.85)
EXPERT_ROOT = (0.97, 0.95, 0.92)
"""What the expert has to reach: mean score, share of incidents with the root right."""


class TriageOutcome(NamedTuple):
    """What a policy made of one incident."""

    score: float
    root: bool
    solved: bool


@lru_cache(maxsize=128)
def outcomes(
    policy: str, tier: str, scenarios: tuple[str, ...], seeds: tuple[int, ...], split: str
) -> tuple[TriageOutcome, ...]:
    """A shipped policy, or a rule of the panel, on every incident."""
    players, found = _players(policy), []
    for spec in [EpisodeSpec(name, tier, seed_of(split, k)) for k in seeds for name in scenarios]:
        env = play_out(make(spec), players)
        told = env.outcome()
        found.append(TriageOutcome(env.score(), told["root_cause"] is True, told["solved"] is True))
    return tuple(found)


def _players(policy: str) -> PolicySet:
    if policy not in PANEL or policy in STRATEGIES:
        return policy_set("logs", policy)
    rule: PolicyFactory = partial(NaivePolicy, PANEL[policy])
    return policy_set_of(policy, ("oncall",), {"oncall": unprivileged(rule)})


def _of(policy: str, incidents: Incidents) -> tuple[TriageOutcome, ...]:
    return outcomes(policy, incidents.tier, tuple(incidents.scenarios), tuple(incidents.seeds), incidents.split)


def shortcuts(incidents: Incidents) -> list[GateRow]:
    """Every rule of the panel against its bound."""
    bar = SHORTCUTS[TIERS.index(incidents.tier)]
    return [_row("shortcuts", incidents, name, _mean(one.score for one in _of(name, incidents)), bar) for name in PANEL]


def bands(incidents: Incidents) -> list[GateRow]:
    """The expert, by score and by roots."""
    at, expert = TIERS.index(incidents.tier), _of("expert", incidents)
    return [
        _row("bands", incidents, "expert: score", _mean(one.score for one in expert), EXPERT_SCORE[at], at_least=True),
        _row("bands", incidents, "expert: root", _share(one.root for one in expert), EXPERT_ROOT[at], at_least=True),
    ]


def _mean(values: Iterable[float]) -> Estimate:
    found = list(values)
    return mean(found, range(len(found)))


def _share(values: Iterable[bool]) -> Estimate:
    found = list(values)
    return share(found, range(len(found)))


def _row(gate: str, incidents: Incidents, what: str, found: Estimate, bar: float, *, at_least: bool = False) -> GateRow:
    assert found.lo is not None and found.hi is not None, "a gate needs two incidents"
    return GateRow(gate, incidents.tier, what, "", incidents.count, found.mean, found.lo, found.hi, bar, at_least)
