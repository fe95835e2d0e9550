"""Where a run by rounds goes on after it was stopped: all that its next round depends on, in one file."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, cast

import torch
from torch import Tensor
from transformers import PreTrainedModel

from warroom.train.config import CHECKPOINTS
from warroom.train.own_play import TaughtConversation
from warroom.train.warmstart import ScheduledOptimizers

ROUND = "round.pt"
LearnerState = Mapping[str, object]
"""Tensors, numbers and texts, in containers: nothing that runs code when it is read."""


class RoundCheckpoint(NamedTuple):
    """A run after one of its rounds."""

    round: int
    """Rounds that are finished."""
    used: float
    """Seconds of processor time that they took."""
    learner: LearnerState

    def write(self, folder: Path) -> None:
        """Put it into a run folder in place of the last one; a crash leaves one of the two whole."""
        path = checkpoint_path(folder)
        path.parent.mkdir(exist_ok=True)
        beside = path.with_name(ROUND + ".part")
        with beside.open("wb") as file:
            torch.save(self._asdict(), file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)


def checkpoint_path(folder: Path) -> Path:
    """Where the checkpoint of a run folder lies."""
    return folder / CHECKPOINTS / ROUND


def read_round(folder: Path) -> RoundCheckpoint | None:
    """The last checkpoint of a run folder, None before its first round has ended; a `ValueError` if it is damaged."""
    path = checkpoint_path(folder)
    if not path.is_file():
        return None
    try:
        return RoundCheckpoint(**torch.load(path, weights_only=True))
    except Exception as error:  # damaged files raise whatever the reader stumbles over
        raise ValueError(f"{path} cannot be read: {error}; begin again with another --out") from error


class Learning(NamedTuple):
    """What every method of this kind changes in a round."""

    model: PreTrainedModel
    optimizers: ScheduledOptimizers
    draws: Random

    def state(self) -> dict[str, object]:
        """As it is now."""
        parts = [part.state_dict() for part in self.optimizers.parts]
        return {"model": self.model.state_dict(), "optimizers": parts, "draws": self.draws.getstate()}

    def restore(self, state: LearnerState) -> None:
        """Make it so again."""
        self.model.load_state_dict(cast("Mapping[str, Tensor]", state["model"]))
        for part, saved in zip(
            self.optimizers.parts, cast("list[dict[str, object]]", state["optimizers"]), strict=True
        ):
            part.load_state_dict(saved)
        self.draws.setstate(cast("tuple[object, ...]", state["draws"]))


def packed(kept: Sequence[TaughtConversation]) -> dict[str, object]:
    """Conversations as a few tensors: thousands of lists would take many times the room."""
    return {
        "seats": [one.seat for one in kept],
        "agreed": [one.agreed for one in kept],
        "lengths": [len(one.ids) for one in kept],
        "ids": torch.tensor([token for one in kept for token in one.ids], dtype=torch.int32),
        "weights": torch.tensor([weight for one in kept for weight in one.weights], dtype=torch.float64),
    }


def unpacked(saved: Mapping[str, object]) -> list[TaughtConversation]:
    """The conversations that were packed."""
    lengths = cast("list[int]", saved["lengths"])
    ids, weights = (torch.split(cast("Tensor", saved[name]), lengths) for name in ("ids", "weights"))
    seats, agreed = cast("list[str]", saved["seats"]), cast("list[float]", saved["agreed"])
    return [
        TaughtConversation(seat, own.tolist(), weight.tolist(), share)
        for seat, own, weight, share in zip(seats, ids, weights, agreed, strict=True)
    ]
