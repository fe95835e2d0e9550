"""The bands of log triage on the test split, and the laws of its dial: noise as declared, severities even."""

from collections import Counter
from functools import cache

import pytest
from logs_noise import measure_noise

from warroom.core.scenario import TIERS
from warroom.core.splits import seed_of
from warroom.envs import episode_spec, suite
from warroom.episode import Episode
from warroom.evals.audit.outcomes import incidents
from warroom.evals.audit.spec import degenerate_policy_set
from warroom.policies import policy_set
from warroom.rollout import play

pytestmark = pytest.mark.slow
SEEDS = 15
"""Per scenario of the full suite: 120 incidents a tier. `recipes/logs_bands.sh` plays 200."""
AT_LEAST = {"oracle": (100, 100, 100), "expert": (95, 92, 88)}
AT_MOST = {"loudest": (55, 40, 30), "keyword": (55, 40, 30), "random": (20, 20, 20), "lottery": (20, 20, 20)}
"""Per cent of incidents whose roots are named on easy, medium and hard, nothing wrong named."""
SUITE = suite("logs", "full")
every_tier = pytest.mark.parametrize("tier", TIERS)


@cache
def played(policy: str, tier: str) -> list[Episode]:
    players = degenerate_policy_set("logs", policy) if policy == "lottery" else policy_set("logs", policy)
    return [play(episode_spec(scenario, tier, seed_of("test", k)), players) for scenario in SUITE for k in range(SEEDS)]


def per_cent(policy: str, tier: str, metric: str) -> float:
    values = [bool(episode.outcome[metric]) for episode in played(policy, tier)]
    return 100 * sum(values) / len(values)


@every_tier
@pytest.mark.parametrize("policy", [*AT_LEAST, *AT_MOST])
def test_the_share_of_roots_found_is_within_its_band(policy: str, tier: str) -> None:
    found, k = per_cent(policy, tier, "root_cause"), TIERS.index(tier)
    assert found >= AT_LEAST[policy][k] if policy in AT_LEAST else found <= AT_MOST[policy][k]


@every_tier
def test_the_oracle_solves_all_of_it(tier: str) -> None:
    assert per_cent("oracle", tier, "solved") == 100


@every_tier
def test_nobody_beats_the_oracle_on_any_incident(tier: str) -> None:
    for policy in ("expert", "loudest", "keyword", "random", "lottery"):
        for own, best in zip(played(policy, tier), played("oracle", tier), strict=True):
            assert own.total <= best.total + 1e-9, (policy, own.scenario, own.seed)


def test_every_severity_is_common() -> None:
    found = Counter(episode.truth["severity"] for tier in TIERS for episode in played("oracle", tier))
    assert min(found.values()) >= 0.2 * found.total() and len(found) == 3


@every_tier
def test_the_share_of_lines_that_mean_nothing_is_the_declared_one(tier: str) -> None:
    found = measure_noise(incidents(SUITE, tier, "test", range(SEEDS)))
    assert found.lines > 2000 and abs(found.deviation) < 0.02
