"""A step's rollouts cut into portions that pass through the model: by length, without padding, without idle rows."""

import torch
from torch import Tensor

Batch = dict[str, Tensor]
"""A trainer's batch: tensors with one row per rollout, and tensors of no dimension."""


def micro_batches(batch: Batch, count: int, lean: bool) -> list[Batch]:
    """`count` portions of equal size, rollouts of similar length together, each cut to its own longest.

    With `lean`, rollouts whose advantage is 0 come last, and a portion of nothing else keeps a single row: it has no
    gradient. That holds only while neither a divergence nor an entropy bonus is in the loss.
    """
    lengths = batch["prompt_mask"].sum(1) + batch["completion_mask"].sum(1)
    idle = batch["advantages"] == 0 if lean else torch.zeros_like(batch["advantages"], dtype=torch.bool)
    order = torch.argsort(lengths + idle * (lengths.max() + 1))
    parts = order.chunk(count)
    return [_micro_batch(batch, part[:1] if bool(idle[part].all()) else part) for part in parts]


def _micro_batch(batch: Batch, rows: Tensor) -> Batch:
    total, written = len(batch["advantages"]), batch["completion_ids"].size(1)
    prompt = int(batch["prompt_mask"][rows].sum(1).max())
    completion = int(batch["completion_mask"][rows].sum(1).max())
    out = {}
    for name, value in batch.items():
        if isinstance(value, Tensor) and value.ndim > 0 and value.size(0) == total:
            value = value[rows]
            if name.startswith("prompt_"):
                value = value[:, value.size(1) - prompt :]  # padded on the left
            elif value.ndim == 2 and value.size(1) == written:
                value = value[:, :completion]  # padded on the right
        out[name] = value
    return out
