"""The recall drill: looking things up, learned on random words before any incident is seen.

Demonstrations hold too few clean look-ups to form the copying heads that everything else is built on.
"""

from random import Random

import torch
from torch import Tensor

KEYS = 8
"""Pairs of a drill."""
REPEATS = 2
"""Times that every pair is asked for after it was told."""


def recall_batch(words: list[int], size: int, rng: Random, start: int) -> tuple[Tensor, Tensor]:
    """Token ids and weights, both (size, 1 + 2 * KEYS * (1 + REPEATS)): pairs are told, then asked in other orders."""
    rows, weights = [], []
    for _ in range(size):
        keys = rng.sample(words, KEYS)
        pairs = [(key, rng.choice(words)) for key in keys]
        row, weight = [start], [0.0]
        for told in range(REPEATS + 1):
            rng.shuffle(pairs)
            for key, value in pairs:
                row += [key, value]
                weight += [0.0, float(told > 0)]
        rows.append(row)
        weights.append(weight)
    return torch.tensor(rows), torch.tensor(weights)
