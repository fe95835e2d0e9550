"""Training by rounds of own play, without TRL: `--method dagger` and `--method forks`.

Both keep the files of a GRPO run: a row of `steps.jsonl` and a checkpoint for each round, then the model, its summary
and its card. They end when their minutes of processor time are used up.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from warroom.core.scenario import TIERS
from warroom.core.signals import Interrupts
from warroom.envs import environments
from warroom.train.callbacks import FINISHED, Display
from warroom.train.config import DAGGER, TrainConfig
from warroom.train.dagger import Dagger
from warroom.train.forks import Forks
from warroom.train.grpo import load_player
from warroom.train.leave_out import parse_left_out
from warroom.train.own_play import Teaching
from warroom.train.round_checkpoint import LearnerState, RoundCheckpoint, read_round
from warroom.train.steps import Row, RunSummary, StepLog, summarise
from warroom.train.trainer import frozen_copy

LEAST_SHARE = 0.05
"""Share of the learning rates that is left at the end; they fall in a line."""


class RoundLearner(Protocol):
    """What a method does in a round."""

    def round(self, tier: str, share: float) -> Row:
        """Play in a tier, then learn with a share of the rates; returns the round's row but for step and seconds."""

    def state(self) -> LearnerState:
        """All that the next round depends on."""

    def restore(self, state: LearnerState) -> None:
        """Go on from such a state."""


def make_learner(config: TrainConfig, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> RoundLearner:
    """The learner of the method that the configuration names; a `ValueError` where it cannot train this model."""
    environment = environments()[config.env]
    if environment.compact_vocab is None or config.renderer != "compact":
        raise ValueError(f"--method {config.method} trains models in the compact rendering; got {config.renderer}")
    player = load_player(config, model, tokenizer, "this run")
    teaching = Teaching(config.env, seed=config.seed, left_out=parse_left_out(config.env, config.leave_out))
    if config.method == DAGGER:
        profile = environment.training_profile
        return Dagger(
            player, teaching, environment.compact_vocab(), profile.rare_calls,
            decisive=profile.decisive_words, frozen=config.control == "frozen",
        )  # fmt: skip
    seats = config.seats or environment.seats
    return Forks(player, teaching, frozen_copy(model), seats, control=config.control)


class Rounds:
    """A run by rounds."""

    def __init__(self, folder: Path, config: TrainConfig, *, display: Display, interrupts: Interrupts) -> None:
        self.folder, self.config, self.display, self.interrupts = folder, config, display, interrupts
        self.log, self.rows, self.used = StepLog(folder), list[Row](), 0.0

    def train(self, learner: RoundLearner, *, clock: Callable[[], float] = time.process_time) -> None:
        """Learn until the minutes are used up, or until somebody asks to stop."""
        budget = 60 * self.config.minutes
        while self.used < budget and not self.interrupts.asked:
            began, share = clock(), LEAST_SHARE + (1 - LEAST_SHARE) * (1 - self.used / budget)
            row = learner.round(TIERS[len(self.rows) % len(TIERS)], share)
            row["step"], seconds = len(self.rows) + 1, clock() - began
            row["seconds"] = {**row["seconds"], "total": seconds}
            self.used += seconds
            self.rows.append(row)
            self.log.append(row)
            RoundCheckpoint(len(self.rows), self.used, learner.state()).write(self.folder)
            self.display.show(self.rows, max(len(self.rows), round(len(self.rows) * budget / self.used)))

    def resume(self, learner: RoundLearner) -> None:
        """Go on after the last round that was finished; one that was cut is played again."""
        found = read_round(self.folder)
        self.rows = self.log.cut(found.round if found else 0)
        if found:
            self.used = found.used
            learner.restore(found.learner)

    def summary(self) -> RunSummary:
        """What the rounds came to."""
        return {"stopped": FINISHED, "best_step": None, **summarise(self.rows)}

    def checkpoint(self, step: int) -> Path:
        """No rule ends a run of this kind early, so it keeps its last round only."""
        raise ValueError(f"no checkpoint of round {step}: a run by rounds keeps that of its last one")
