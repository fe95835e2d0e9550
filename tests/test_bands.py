"""The bands of DESIGN: what weighs no evidence does badly, what weighs it does well, on incidents of the test split."""

from functools import cache

import pytest

from warroom.core.scenario import TIERS
from warroom.core.splits import seed_of
from warroom.envs import episode_spec, suite
from warroom.episode import Episode
from warroom.policies import policy_set
from warroom.rollout import play

pytestmark = pytest.mark.slow
SEEDS = 9
"""Per scenario of the full suite: 216 incidents a tier."""
SOLVED = {
    "expert": (93, 92, 92),
    "heuristic": (45, 40, 35),
    "keyword": (35, 20, 15),
    "oracle": (100, 100, 100),
    "noop": (0, 0, 0),
}
"""Per cent solved on easy, medium and hard: at least for expert and oracle, at most for the others."""
CAUGHT, FALSE = (94, 92, 88), (1, 2, 2)
"""Per cent of the rogues that the expert catches, at least, and of its episodes with an innocent suspended, at most."""


@cache
def played(policy: str, tier: str) -> list[Episode]:
    return [
        play(episode_spec(scenario, tier, seed_of("test", k)), policy_set("fleet", policy))
        for scenario in suite("fleet", "full")
        for k in range(SEEDS)
    ]


def per_cent(values: list[bool | float | None]) -> float:
    known = [float(v) for v in values if v is not None]
    return 100 * sum(known) / len(known)


def solved(policy: str, tier: str) -> float:
    return per_cent([e.outcome["solved"] for e in played(policy, tier)])


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("policy", SOLVED)
def test_the_share_solved_is_within_its_band(policy: str, tier: str) -> None:
    bar = SOLVED[policy][TIERS.index(tier)]
    share = solved(policy, tier)
    assert share >= bar if policy in ("expert", "oracle") else share <= bar


@pytest.mark.parametrize("tier", TIERS)
def test_the_expert_catches_rogues_and_spares_innocents(tier: str) -> None:
    episodes, k = played("expert", tier), TIERS.index(tier)
    assert per_cent([e.outcome["rogue_catch"] for e in episodes]) >= CAUGHT[k]
    assert per_cent([e.outcome["rogue_false_positive"] for e in episodes]) <= FALSE[k]


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("policy", ["noop", "random", "heuristic", "keyword"])
def test_every_naive_policy_has_negative_mean_points(policy: str, tier: str) -> None:
    episodes = played(policy, tier)
    assert sum(e.total for e in episodes) / len(episodes) < 0


@pytest.mark.parametrize("tier", TIERS)
def test_nobody_beats_the_oracle_on_any_incident(tier: str) -> None:
    ceiling = {(e.scenario, e.seed): e.total for e in played("oracle", tier)}
    for policy in ("noop", "random", "heuristic", "keyword", "expert"):
        for episode in played(policy, tier):
            assert episode.total <= ceiling[episode.scenario, episode.seed] + 1e-9, (
                policy,
                episode.scenario,
                episode.seed,
            )


def test_the_dial_is_felt_by_scripts() -> None:
    for policy in ("heuristic", "keyword"):
        points = [sum(e.total for e in played(policy, tier)) / len(played(policy, tier)) for tier in TIERS]
        assert points[0] > points[1] > points[2], policy


def test_the_expert_is_worse_where_it_is_harder() -> None:
    points = [sum(e.score for e in played("expert", tier)) / len(played("expert", tier)) for tier in TIERS]
    assert points[0] > points[2]
