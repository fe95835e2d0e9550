"""Honest confidence by the exact gradient: what each word of confidence would have earned is known at once.

Confidence c earns c (2y - c) where y is 1 if the answer is verified and 0 if not, and nothing else depends on that
word. So no word need be sampled: the expected squared error over all of them is differentiated. By policy gradient the
same signal is the smallest of all in the reward, and a model that is certain never tries another word (docs/log.md).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from warroom.core.rng import stream
from warroom.core.scenario import TIERS
from warroom.core.splits import SPAN, Split, for_training, seed_of
from warroom.envs import make, suite
from warroom.policies.model import Model, ModelSeat
from warroom.train.settle import words_for_confidence

SURE = "how sure to be"
"""Name of the stage."""
Watcher = Callable[[int, float], None]
"""Told the step and the mean squared error of the stated confidence in it."""


@dataclass(frozen=True)
class Lessons:
    """How a model learns what it may be sure of."""

    steps: int
    incidents: int = 48
    """Answers per step."""
    rate: float = 5e-4
    """Of AdamW; it falls linearly to nothing. At 1e-3 the error rose before it fell."""
    temperature: float = 0.0
    """Of the answers."""
    hold: float = 1.0
    """Weight of saying everything else as before."""
    shuffled: bool = False
    """A control: outcomes of other answers."""
    seed: int = 0


class Answer(NamedTuple):
    """What the model said, and whether it was right."""

    ids: list[int]
    """The whole conversation."""
    begin: int
    """Where its first own word stands."""
    place: int
    """Where its word of confidence stands."""
    verified: bool


def teach_confidence(
    model: Model,
    env: str,
    options: Mapping[str, Any],
    lessons: Lessons,
    watch: Watcher = lambda *told: None,
) -> list[float]:
    """Teach the model in place how sure to be of answers that it gives, and return the squared error of each step.

    Its answers themselves are held: what it wrote around the word is imitated. A step without any answer that states
    a confidence teaches nothing and has no error.
    """
    words = words_for_confidence(env, model.checkpoint.manifest["language"])
    sure: list[int] = model.tokenizer.convert_tokens_to_ids(list(words))
    weights = model.checkpoint.model
    optimizer = torch.optim.AdamW(weights.parameters(), lr=lessons.rate, weight_decay=0.0)
    errors = []
    for step in range(lessons.steps):
        weights.eval()
        answers = ask(model, env, options, sure, lessons, step)
        if not answers:
            continue
        weights.train()
        found = losses(weights, answers, sure, _outcomes(answers, lessons, step))
        torch.autograd.backward(found.error + found.surprise + lessons.hold * found.held)
        torch.nn.utils.clip_grad_norm_(weights.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = lessons.rate * (1 - step / lessons.steps)
        optimizer.step()
        optimizer.zero_grad()
        errors.append(found.error.item())
        watch(step + 1, errors[-1])
    return errors


def ask(
    model: Model, env: str, options: Mapping[str, Any], sure: Sequence[int], lessons: Lessons, step: int
) -> list[Answer]:
    """The model's answers to the incidents of a step that state a confidence."""
    scenarios, rng = for_training(suite(env, "full")), stream(lessons.seed, "confidence", step)
    games = [
        (rng.choice(scenarios), rng.choice(TIERS), seed_of(Split.TRAIN, rng.randrange(SPAN)))
        for _ in range(lessons.incidents)
    ]
    envs = [make(*game, **options) for game in games]
    seats = [
        ModelSeat(model, lessons.temperature, incident.brief(incident.seat), stream(incident.seed, "sure"))
        for incident in envs
    ]
    live = list(range(len(envs)))
    while live:
        calls = model.answer([(seats[k], envs[k].observe()) for k in live])
        for k, call in zip(live, calls, strict=True):
            envs[k].step(call)
        live = [k for k in live if not envs[k].done]
    found = [
        _answer(seat, sure, bool(incident.outcome()["solved"])) for seat, incident in zip(seats, envs, strict=True)
    ]
    return [answer for answer in found if answer is not None]


def _answer(seat: ModelSeat, sure: Sequence[int], verified: bool) -> Answer | None:
    stated = [k for k in range(seat.prompt, len(seat.ids)) if seat.ids[k] in sure]
    return Answer(seat.ids, seat.prompt, stated[-1], verified) if stated else None


def _outcomes(answers: Sequence[Answer], lessons: Lessons, step: int) -> list[float]:
    found = [float(answer.verified) for answer in answers]
    if lessons.shuffled:
        stream(lessons.seed, "shuffled confidence", step).shuffle(found)
    return found


class Losses(NamedTuple):
    """Means over the answers of a step."""

    error: Tensor
    """Expected squared error of the stated confidence, at its least where all words agree on the right chance."""
    surprise: Tensor
    """Nats of the outcome under the mean confidence: it moves a model whose certainty hides the error's gradient."""
    held: Tensor
    """Cross entropy of all else that was said."""


def losses(weights: Any, answers: Sequence[Answer], sure: Sequence[int], outcomes: Sequence[float]) -> Losses:
    """What is to be made small, for answers that turned out so (1 right, 0 wrong)."""
    width = max(len(answer.ids) for answer in answers)
    ids = torch.tensor([answer.ids + [0] * (width - len(answer.ids)) for answer in answers])
    logits = weights(input_ids=ids, use_cache=False).logits
    spots = torch.tensor([answer.place - 1 for answer in answers])
    told = logits[torch.arange(len(answers)), spots][:, torch.tensor(sure)].log_softmax(-1)
    levels, right = torch.linspace(0.0, 1.0, len(sure)), torch.tensor(outcomes)[:, None]
    error = (told.exp() * (levels - right) ** 2).sum(-1).mean()
    surprise = -(told + torch.where(right > 0, levels, 1 - levels).log()).logsumexp(-1).mean()
    said = torch.tensor([_said(answer, width) for answer in answers])[:, 1:]
    nats = cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
    return Losses(error, surprise, (nats * said).sum() / said.sum())


def _said(answer: Answer, width: int) -> list[float]:
    """1 where the model wrote something else than its confidence; its one message ends the conversation."""
    return [float(answer.begin <= k < len(answer.ids) and k != answer.place) for k in range(width)]
