"""The learned attack on log triage: the first page and the catalogue together must not tell a learner the root."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from learned_attacks.logs import NO_FAULT_SCENARIO, LogsAttackSample, attack, line_features, samples
from warroom.core.scenario import TIERS
from warroom.core.splits import seed_of
from warroom.envs import make, suite
from warroom.envs.logs.env import LogsEnv

pytestmark = pytest.mark.usefixtures("one_thread")

TRAIN, TEST = 40, 20
"""Seeds per scenario."""
NAMED = {"easy": 0.5, "medium": 0.4, "hard": 0.3}
"""Share of incidents in which one page may give the root away."""
BEYOND = 0.05
"""What the attack must add to the catalogue alone on easy, lest it be harmless because it is broken."""


@cache
def drawn(tier: str, split: str, count: int) -> list[LogsAttackSample]:
    return samples(tier, split, count, "drawn")


def named(tier: str, learner: str) -> float:
    return attack(drawn(tier, "train", TRAIN), drawn(tier, "test", TEST), learner)["all"]


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("learner", ["trees", "bayes", "words"])
def test_the_first_page_seldom_gives_the_root_away(learner: str, tier: str) -> None:
    assert named(tier, learner) <= NAMED[tier]


@pytest.mark.slow
def test_the_attack_finds_the_evidence_that_an_easy_page_holds() -> None:
    assert named("easy", "trees") >= named("easy", "prior") + BEYOND


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["trees", "bayes", "words"])
def test_a_page_that_marks_the_root_is_caught(learner: str) -> None:
    def marked(sample: LogsAttackSample) -> LogsAttackSample:
        mark = np.isin(np.arange(len(sample.page)), sample.roots).astype(np.float64)
        words = " ".join([sample.words, *[f"root{sample.roots[0]}"] * 40])
        return replace(sample, page=np.column_stack([sample.page, *[mark] * 8]), words=words)

    known, unknown = drawn("hard", "train", TRAIN), drawn("hard", "test", TEST)
    found = attack([marked(s) for s in known], [marked(s) for s in unknown], learner)
    found.pop("all"), found.pop("logs/double_fault")
    assert min(found.values()) >= 0.9


def test_every_line_of_a_page_can_be_read_whatever_its_wording() -> None:
    for scenario in suite("logs", "full"):
        for split in ("train", "test"):
            env = make(scenario, "hard", seed_of(split, 0))
            assert isinstance(env, LogsEnv)
            for line in env.observation().lines:
                known = line_features(line, env.catalogue.names)
                assert (known.callee >= 0) == bool(line.callee)
                assert (known.topic in ("timeout", "refused")) == bool(line.callee)


@pytest.mark.slow
def test_nobody_is_asked_for_the_root_of_a_false_alarm() -> None:
    assert NO_FAULT_SCENARIO in suite("logs", "full")
    assert not [s for s in drawn("hard", "test", TEST) if s.scenario == NO_FAULT_SCENARIO or not s.roots]
