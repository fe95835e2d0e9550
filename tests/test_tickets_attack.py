"""Learned attacks on the ticket desk: what nobody has read must not tell what is right."""

from functools import cache

import pytest

from learned_attacks.tickets import (
    ANSWERED,
    TicketsAttackSample,
    attack,
    balanced,
    best_match_is_right,
    first_is_right,
    longest_is_right,
    samples,
)
from warroom.core.splits import Split, seed_of
from warroom.envs import make
from warroom.envs.tickets.env import TicketsEnv
from warroom.envs.tickets.generate import generated_base
from warroom.envs.tickets.vocabulary import SYLLABLES, TOPICS

BARS = {
    "human needed, by the ticket's words": 0.55,
    "human needed, by the page's shape": 0.7,
    "human needed, by words on the product": 0.7,
    "right article, by its shape": 0.6,
    "right article, by its own words": 0.6,
}
"""Areas under the curve that a learner may reach."""
SEEDS = 100
"""Tickets of each kind to learn from, and as many to be asked about."""
every_wording = pytest.mark.parametrize("split", ["train", "test"])


@cache
def known(split: str) -> list[TicketsAttackSample]:
    return samples("hard", split, range(SEEDS))


@cache
def unknown(split: str) -> list[TicketsAttackSample]:
    return samples("hard", split, range(5000, 5000 + SEEDS))


@pytest.mark.slow
@every_wording
def test_a_learner_finds_hardly_anything_in_tickets_articles_and_pages(split: str) -> None:
    found = attack(known(split), unknown(split))
    assert found.keys() == BARS.keys()
    assert not {name: area for name, area in found.items() if area > BARS[name]}


@pytest.mark.slow
def test_a_learner_would_find_a_word_that_only_one_side_has() -> None:
    """The attacks can see: a word in every ticket that needs a human gives them away."""
    tell = {True: " kindly", False: ""}
    marked = [
        [TicketsAttackSample(s.kind, s.escalate, s.ticket + tell[s.escalate], s.shown) for s in part("train")]
        for part in (known, unknown)
    ]
    assert attack(*marked)["human needed, by the ticket's words"] > 0.95


@pytest.mark.slow
@every_wording
def test_neither_place_nor_length_tells_the_right_document(split: str) -> None:
    pages = [*known(split), *unknown(split)]
    for guess in (first_is_right(pages), longest_is_right(pages)):
        assert abs(guess.hits - guess.chance) <= 0.06


@pytest.mark.slow
def test_the_best_match_is_right_as_often_in_words_of_the_test_as_of_training() -> None:
    found = [best_match_is_right([*known(split), *unknown(split)]) for split in ("train", "test")]
    for kind in ANSWERED:
        assert abs(found[0][kind].hits - found[1][kind].hits) <= 0.16, kind


def test_as_many_answered_tickets_are_compared_as_such_for_humans() -> None:
    found = balanced(known("train"))
    assert sum(s.escalate for s in found) * 2 == len(found)


def test_every_ticket_says_what_is_at_stake() -> None:
    for scenario in ("one_article", "must_escalate", "unanswerable", "stale"):
        for k in range(20):
            env = make(f"tickets/{scenario}", "medium", seed_of("test", k), mode="single")
            assert isinstance(env, TicketsEnv)
            assert sum(said.lower() in env.case.text.lower() for _, said in TOPICS[Split.TEST]) == 1


def test_a_vendor_that_nobody_knows_has_a_name_like_any_other() -> None:
    strangers = 0
    for k in range(60):
        env = make("tickets/unanswerable", "easy", seed_of("train", k), mode="single")
        assert isinstance(env, TicketsEnv)
        vendor, known_ones = env.case.handoff[0], generated_base(Split.TRAIN, 20, k, Split.TRAIN).clusters
        strangers += vendor not in {cluster.vendor.lower() for cluster in known_ones}
        assert all(vendor[i : i + 3] in SYLLABLES for i in range(0, len(vendor), 3)) and len(vendor) in (6, 9)
    assert 10 <= strangers <= 40
