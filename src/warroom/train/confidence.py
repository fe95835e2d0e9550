"""Honest confidence by the exact gradient: what each word of confidence would have earned is known at once.

Confidence c earns c (2y - c) where y is 1 if the answer is verified and 0 if not, and nothing else depends on that
word. So no word need be sampled: the expected squared error over all of them is differentiated. By policy gradient the
same signal is the smallest of all in the reward, and a model that is certain never tries another word
(docs/experiments/2026-11-tickets-nano-confidence.md).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from warroom import scheduler
from warroom.core.env import Env
from warroom.core.options import Options
from warroom.core.rng import stream
from warroom.core.scenario import TIERS
from warroom.core.spec import EpisodeSpec
from warroom.core.splits import SEEDS_PER_SPLIT, Split, for_training, seed_of
from warroom.envs import make, suite
from warroom.policies.model import HfModel, HfPolicy
from warroom.policies.prompt import word_ids
from warroom.scheduler import Play
from warroom.train.resolve_config import confidence_tokens

SURE = "how sure to be"
"""Name of the stage."""
StepLossCallback = Callable[[int, float], None]
"""Called with the step and the mean squared error of the stated confidence in it."""


@dataclass(frozen=True)
class ConfidencePlan:
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


class ConfidenceAnswer(NamedTuple):
    """What the model said, and whether it was right."""

    ids: list[int]
    """The whole conversation."""
    begin: int
    """Where its first own word stands."""
    place: int
    """Where its word of confidence stands."""
    verified: bool


def train_confidence(
    model: HfModel,
    env: str,
    options: Options,
    plan: ConfidencePlan,
    on_progress: StepLossCallback = lambda *progress: None,
) -> list[float]:
    """Teach the model in place how sure to be of answers that it gives, and return the squared error of each step.

    Its answers themselves are held: what it wrote around the word is imitated. A step without any answer that states
    a confidence teaches nothing and has no error.
    """
    words = confidence_tokens(env, model.checkpoint.manifest["renderer"])
    sure = word_ids(model.tokenizer, words)
    weights = model.checkpoint.model
    optimizer = torch.optim.AdamW(weights.parameters(), lr=plan.rate, weight_decay=0.0)
    errors = []
    for step in range(plan.steps):
        weights.eval()
        answers = ask(model, incidents(env, options, plan, step), sure, plan.temperature)
        if not answers:
            continue
        weights.train()
        found = losses(weights, answers, sure, _outcomes(answers, plan, step))
        torch.autograd.backward(found.error + found.surprise + plan.hold * found.held)
        torch.nn.utils.clip_grad_norm_(weights.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = plan.rate * (1 - step / plan.steps)
        optimizer.step()
        optimizer.zero_grad()
        errors.append(found.error.item())
        on_progress(step + 1, errors[-1])
    return errors


def incidents(env: str, options: Options, plan: ConfidencePlan, step: int) -> list[EpisodeSpec]:
    """The incidents of a step, of the training split."""
    scenarios, rng = for_training(suite(env, "full")), stream(plan.seed, "confidence", step)
    return [
        EpisodeSpec(
            rng.choice(scenarios), rng.choice(TIERS), seed_of(Split.TRAIN, rng.randrange(SEEDS_PER_SPLIT)), options
        )
        for _ in range(plan.incidents)
    ]


def ask(
    model: HfModel, specs: Sequence[EpisodeSpec], confidence_ids: Sequence[int], temperature: float
) -> list[ConfidenceAnswer]:
    """The model's answers to incidents of one seat that state a confidence, by one of the tokens `confidence_ids`."""

    def play(env: Env) -> Play[ConfidenceAnswer | None]:
        seat = HfPolicy(model, temperature, env.brief(env.seat), stream(env.seed, "sure"))
        while not env.done:
            call = yield from scheduler.ask(seat, env.observe())
            env.step(call)
        return _answer(seat, confidence_ids, bool(env.outcome()["solved"]))

    answers = scheduler.run_all([play(make(spec)) for spec in specs])
    return [answer for answer in answers if answer is not None]


def _answer(seat: HfPolicy, sure: Sequence[int], verified: bool) -> ConfidenceAnswer | None:
    stated = [k for k in range(seat.prompt, len(seat.ids)) if seat.ids[k] in sure]
    return ConfidenceAnswer(seat.ids, seat.prompt, stated[-1], verified) if stated else None


def _outcomes(answers: Sequence[ConfidenceAnswer], plan: ConfidencePlan, step: int) -> list[float]:
    found = [float(answer.verified) for answer in answers]
    if plan.shuffled:
        stream(plan.seed, "shuffled confidence", step).shuffle(found)
    return found


class ConfidenceLosses(NamedTuple):
    """Means over the answers of a step."""

    error: Tensor
    """Expected squared error of the stated confidence, at its least where all words agree on the right chance."""
    surprise: Tensor
    """Nats of the outcome under the mean confidence: it moves a model whose certainty hides the error's gradient."""
    held: Tensor
    """Cross entropy of all else that was said."""


def losses(
    weights: PreTrainedModel, answers: Sequence[ConfidenceAnswer], sure: Sequence[int], outcomes: Sequence[float]
) -> ConfidenceLosses:
    """What is to be made small, for answers that turned out so (1 right, 0 wrong)."""
    width = max(len(answer.ids) for answer in answers)
    ids = torch.tensor([answer.ids + [0] * (width - len(answer.ids)) for answer in answers])
    logits = weights(input_ids=ids, use_cache=False).logits
    spots = torch.tensor([answer.place - 1 for answer in answers])
    stated = logits[torch.arange(len(answers)), spots][:, torch.tensor(sure)].log_softmax(-1)
    levels, right = torch.linspace(0.0, 1.0, len(sure)), torch.tensor(outcomes)[:, None]
    error = (stated.exp() * (levels - right) ** 2).sum(-1).mean()
    surprise = -(stated + torch.where(right > 0, levels, 1 - levels).log()).logsumexp(-1).mean()
    said = torch.tensor([_said(answer, width) for answer in answers])[:, 1:]
    log_probability = cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
    return ConfidenceLosses(error, surprise, (log_probability * said).sum() / said.sum())


def _said(answer: ConfidenceAnswer, width: int) -> list[float]:
    """1 where the model wrote something else than its confidence; its one message ends the conversation."""
    return [float(answer.begin <= k < len(answer.ids) and k != answer.place) for k in range(width)]
