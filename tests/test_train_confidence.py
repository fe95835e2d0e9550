"""Laws of the stage that teaches how sure to be."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from command import refused
from warroom.envs import env_spec
from warroom.policies import hf
from warroom.policies.model import HfModel
from warroom.train.confidence import (
    ConfidenceAnswer,
    ConfidenceLosses,
    ConfidencePlan,
    ask,
    incidents,
    losses,
    train_confidence,
)
from warroom.train.resolve_config import confidence_tokens

SINGLE = env_spec("tickets").options.parse({"mode": "single"})
WORDS = confidence_tokens("tickets", "compact")


@pytest.fixture
def nano() -> Iterator[HfModel]:
    """The shipped warm start, fresh for each test: it is changed in place."""
    hf.model_at.cache_clear()
    yield hf.model_at(str(hf.pretrained_checkpoints()[hf.weights_name("tickets", "nano")]))
    hf.model_at.cache_clear()


def tokens(model: HfModel) -> list[int]:
    return list(model.tokenizer.convert_tokens_to_ids(list(WORDS)))


class Fixed(torch.nn.Module):
    """Says each word with the chances that it was given, wherever it is asked."""

    def __init__(self, chances: torch.Tensor) -> None:
        super().__init__()
        self.scores = torch.nn.Parameter(chances.log())

    def forward(self, input_ids: torch.Tensor, use_cache: bool) -> Any:
        return type("Out", (), {"logits": self.scores.expand(*input_ids.shape, -1)})


def stated(chances: list[float], verified: bool) -> ConfidenceLosses:
    """Losses of one answer whose word is the third token; words 1, 2 and 3 mean 0, one half and 1."""
    model = Fixed(torch.tensor([1e-9, *chances]))
    return losses(model, [ConfidenceAnswer([0, 0, 3], 1, 2, verified)], (1, 2, 3), [float(verified)])


def test_the_error_is_expected_over_all_words() -> None:
    assert stated([0.2, 0.3, 0.5], True).error.item() == pytest.approx(0.2 + 0.3 * 0.25, abs=1e-5)
    assert stated([0.2, 0.3, 0.5], False).error.item() == pytest.approx(0.3 * 0.25 + 0.5, abs=1e-5)


def test_the_surprise_is_that_of_the_mean_confidence() -> None:
    mean = 0.3 * 0.5 + 0.5
    assert stated([0.2, 0.3, 0.5], True).surprise.item() == pytest.approx(-math.log(mean), abs=1e-5)
    assert stated([0.2, 0.3, 0.5], False).surprise.item() == pytest.approx(-math.log(1 - mean), abs=1e-5)


def test_a_model_that_is_certain_and_wrong_is_moved() -> None:
    """By its squared error alone it hardly would be: its gradient vanishes with the chance of any other word."""
    model = Fixed(torch.tensor([1e-9, 1e-6, 1e-6, 1.0]))
    found = losses(model, [ConfidenceAnswer([0, 0, 3], 1, 2, False)], (1, 2, 3), [0.0])
    (by_error,) = torch.autograd.grad(found.error, model.scores, retain_graph=True)
    (by_surprise,) = torch.autograd.grad(found.surprise, model.scores)
    assert by_error.abs().max() < 1e-4
    assert by_surprise.abs().max() > 0.3


def test_only_what_was_said_beside_the_word_is_held() -> None:
    chances = torch.tensor([0.1, 0.2, 0.3, 0.4])
    held = losses(Fixed(chances), [ConfidenceAnswer([0, 0, 1, 3, 2], 2, 3, True)], (1, 2, 3), [1.0]).held
    assert held.item() == pytest.approx(-(torch.log(chances[1]) + torch.log(chances[2])).item() / 2, abs=1e-5)


@pytest.mark.slow
def test_answers_are_judged_by_the_environment_and_marked_where_they_state_confidence(nano: HfModel) -> None:
    sure = tokens(nano)
    plan = ConfidencePlan(1, incidents=24)
    answers = ask(nano, incidents("tickets", SINGLE, plan, 0), sure, plan.temperature)
    assert len(answers) == 24 and {answer.ids[answer.place] in sure for answer in answers} == {True}
    assert 0.5 < sum(answer.verified for answer in answers) / 24 <= 1


@pytest.mark.thorough
def test_sureness_comes_to_follow_the_outcome(nano: HfModel) -> None:
    """A model that is made to babble is mostly wrong, and learns to say so."""
    errors = train_confidence(nano, "tickets", SINGLE, ConfidencePlan(10, incidents=24, rate=3e-3, temperature=4.0))
    assert sum(errors[-3:]) / 3 < 0.6 * errors[0]


def test_a_model_that_states_nothing_learns_nothing_and_ends_no_training(nano: HfModel) -> None:
    nano.turn_tokens = 1
    assert train_confidence(nano, "tickets", SINGLE, ConfidencePlan(2, incidents=2)) == []


@pytest.mark.parametrize(("env", "renderer"), [("fleet", "compact"), ("tickets", "plain")])
def test_a_renderer_without_words_for_confidence_is_refused(env: str, renderer: str) -> None:
    with pytest.raises(ValueError, match="no words for confidence"):
        confidence_tokens(env, renderer)


def test_the_command_refuses_it_where_no_confidence_is_stated(tmp_path: Path) -> None:
    told = refused("train", "--model", "nano", "--confidence-steps", "5", "--out", str(tmp_path / "run"))
    assert "fleet in compact has no words for confidence" in told
    assert not (tmp_path / "run").exists()
