"""Learned attacks on the ticket desk: what nobody has read must not tell what is right."""

from collections.abc import Collection
from functools import cache

import pytest

from learned_attacks.tickets import (
    ANSWERED,
    ATTACKS,
    TicketsAttackSample,
    balanced,
    best_match_is_right,
    first_is_right,
    longest_is_right,
    samples,
)

BARS = {
    "human needed, by the ticket's words": 0.55,
    "human needed, by the page's shape": 0.7,
    "human needed, by words on the product": 0.7,
    "right article, by its shape": 0.6,
    "right article, by its own words": 0.6,
}
"""Areas under the curve that a learner may reach."""
TELLING = {
    "several_articles": "shape 0.88 and 0.90, words 0.97 in both wordings: supplements stand mostly where they hold",
    "past_case": "shape 0.93 and 0.94, words 0.93 and 0.94: most past cases on the page are right",
    "poisoned": "shape 0.87 and 0.84, words 0.95 and 0.94; why is not known",
    "stale": "shape 0.66 and 0.69, words 0.69 and 0.68; why is not known",
}
"""Kinds of tickets in which a learner that knows the kind finds the right document, with the areas that it reaches."""
POOLED = ("several_articles", "past_case")
"""Those of them that it finds, if less often, even among tickets of every kind: an area of 0.59 to 0.63 in all."""
SEEDS = 100
"""Tickets of each kind to learn from, and as many to be asked about."""
every_wording = pytest.mark.parametrize("split", ["train", "test"])


@cache
def known(split: str) -> list[TicketsAttackSample]:
    return samples("hard", split, range(SEEDS))


@cache
def unknown(split: str) -> list[TicketsAttackSample]:
    return samples("hard", split, range(5000, 5000 + SEEDS))


def area(name: str, split: str, kinds: Collection[str]) -> float:
    """What an attack makes of new tickets of some kinds, once it has learned from others of these kinds."""
    return ATTACKS[name](*[[s for s in part(split) if s.kind in kinds] for part in (known, unknown)])


@pytest.mark.slow
@every_wording
def test_a_learner_finds_hardly_anything_in_tickets_articles_and_pages(split: str) -> None:
    """In tickets of every kind, but for articles in those of `POOLED`, which the next test holds to the same."""
    kinds = {s.kind for s in known(split)}
    found = {name: area(name, split, kinds - {*POOLED} if "article" in name else kinds) for name in ATTACKS}
    assert found.keys() == BARS.keys()
    assert not {name: area for name, area in found.items() if area > BARS[name]}


@pytest.mark.slow
@every_wording
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.xfail(strict=True, reason=why)) for kind, why in TELLING.items()]
)
def test_a_learner_finds_hardly_anything_once_it_knows_the_kind_of_the_ticket(kind: str, split: str) -> None:
    found = {name: area(name, split, {kind}) for name in BARS if "article" in name}
    assert not {name: area for name, area in found.items() if area > BARS[name]}


@pytest.mark.slow
def test_a_learner_would_find_a_word_that_only_one_side_has() -> None:
    """The attacks can see: a word in every ticket that needs a human gives them away."""
    tell = {True: " kindly", False: ""}
    marked = [
        [TicketsAttackSample(s.kind, s.escalate, s.ticket + tell[s.escalate], s.shown) for s in part("train")]
        for part in (known, unknown)
    ]
    assert ATTACKS["human needed, by the ticket's words"](*marked) > 0.95


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
