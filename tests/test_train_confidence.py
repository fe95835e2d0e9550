"""Laws of the stage that teaches how sure to be."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from warroom.policies import hf
from warroom.policies.model import Model
from warroom.train.confidence import Answer, Lessons, ask, losses, teach_confidence
from warroom.train.settle import words_for_confidence

SINGLE = {"mode": "single"}
WORDS = words_for_confidence("tickets", "shorthand")


@pytest.fixture
def nano() -> Iterator[Model]:
    """The shipped warm start, fresh for each test: it is changed in place."""
    hf.model_at.cache_clear()
    yield hf.model_at(str(hf.starts()[hf.own("tickets", "nano")]))
    hf.model_at.cache_clear()


def tokens(model: Model) -> list[int]:
    return list(model.tokenizer.convert_tokens_to_ids(list(WORDS)))


class Fixed(torch.nn.Module):
    """Says each word with the chances that it was given, wherever it is asked."""

    def __init__(self, chances: torch.Tensor) -> None:
        super().__init__()
        self.scores = torch.nn.Parameter(chances.log())

    def forward(self, input_ids: torch.Tensor, use_cache: bool) -> Any:
        return type("Out", (), {"logits": self.scores.expand(*input_ids.shape, -1)})


def test_the_loss_is_the_expected_squared_error_over_all_words() -> None:
    chances = torch.tensor([0.0, 0.2, 0.3, 0.5]) + 1e-9  # a word that is no confidence, then 0, one half, 1
    answers = [Answer([0, 0, 3], 1, 2, True), Answer([0, 0, 3], 1, 2, False)]
    error, _ = losses(Fixed(chances), answers, (1, 2, 3), [1.0, 0.0])
    assert error.item() == pytest.approx((0.2 * 1 + 0.3 * 0.25 + 0.3 * 0.25 + 0.5 * 1) / 2, abs=1e-5)


def test_only_what_was_said_beside_the_word_is_held() -> None:
    chances = torch.tensor([0.1, 0.2, 0.3, 0.4])
    _, held = losses(Fixed(chances), [Answer([0, 0, 1, 3, 2], 2, 3, True)], (1, 2, 3), [1.0])
    assert held.item() == pytest.approx(-(torch.log(chances[1]) + torch.log(chances[2])).item() / 2, abs=1e-5)


def test_answers_are_judged_by_the_environment_and_marked_where_they_state_confidence(nano: Model) -> None:
    sure = tokens(nano)
    answers = ask(nano, "tickets", SINGLE, sure, Lessons(1, incidents=24), 0)
    assert len(answers) == 24 and {answer.ids[answer.place] in sure for answer in answers} == {True}
    assert 0.5 < sum(answer.verified for answer in answers) / 24 <= 1


def test_sureness_comes_to_follow_the_outcome(nano: Model) -> None:
    """Of outcomes that are a coin's, the best that can be said is one half."""
    lessons = Lessons(20, incidents=16, rate=5e-3, shuffled=True, temperature=3.0)
    errors = teach_confidence(nano, "tickets", SINGLE, lessons)
    assert sum(errors[-5:]) < sum(errors[:5])
    assert sum(errors[-5:]) / 5 < 0.3


@pytest.mark.parametrize(("env", "language"), [("fleet", "shorthand"), ("tickets", "plain")])
def test_a_language_without_words_for_confidence_is_refused(env: str, language: str) -> None:
    with pytest.raises(ValueError, match="no words for confidence"):
        words_for_confidence(env, language)
