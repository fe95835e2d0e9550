"""What the rollouts of a step showed, as one row of numbers. Standard library only."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from warroom.train.seat import Rollout


@dataclass(frozen=True)
class RolloutStats:
    """One finished rollout."""

    seat: str
    tier: str
    multiplier: float
    reward: float
    """The team's score, whatever the run trains on."""
    terms: Mapping[str, float]
    """Points by term."""
    calls: int
    refused: int
    tokens: int
    """Tokens that the model wrote."""
    cut: bool
    """Whether tokens ran out before the incident or the conversation ended."""
    trajectory_hash: str
    """Hash of the trajectory."""

    @classmethod
    def of(cls, row: Mapping[str, Any], rollout: Rollout, tokens: int, cut: bool) -> "RolloutStats":
        """What a rollout of a dataset row came to."""
        return cls(
            seat=rollout.seat,
            tier=row["tier"],
            multiplier=row["multiplier"],
            reward=rollout.reward(),
            terms=rollout.terms(),
            calls=rollout.calls,
            refused=rollout.refused,
            tokens=tokens,
            cut=cut,
            trajectory_hash=rollout.trajectory_hash(),
        )


def step_record(rollouts: Sequence[RolloutStats], group_size: int, seconds: Mapping[str, float]) -> dict[str, Any]:
    """The row of a step from its rollouts, which come group by group. Rewards are means of scores; `trajectories` is a
    hash of all that was played, so that two runs can be compared."""
    rewards = [note.reward for note in rollouts]
    groups = [rewards[i : i + group_size] for i in range(0, len(rewards), group_size)]
    calls = sum(note.calls for note in rollouts)
    return {
        "tier": rollouts[0].tier,
        "seats": {
            seat: sum(note.seat == seat for note in rollouts) for seat in sorted({note.seat for note in rollouts})
        },
        "reward": fmean(rewards),
        "reward_std": stdev(rewards),
        "by_tier": _means(rollouts, lambda note: note.tier),
        "by_seat": _means(rollouts, lambda note: note.seat),
        "terms": {term: fmean([note.terms[term] for note in rollouts]) for term in rollouts[0].terms},
        "zero_variance_groups": fmean([max(group) - min(group) <= 1e-6 for group in groups]),
        "calls_per_rollout": calls / len(rollouts),
        "failed_calls": sum(note.refused for note in rollouts) / calls if calls else 0.0,
        "completion_tokens": fmean([note.tokens for note in rollouts]),
        "clipped": fmean([note.cut for note in rollouts]),
        "multiplier": rollouts[0].multiplier,
        "trajectories": hashlib.blake2b(
            "".join(note.trajectory_hash for note in rollouts).encode(), digest_size=16
        ).hexdigest(),
        "seconds": dict(seconds),
    }


def _means(rollouts: Sequence[RolloutStats], key: Callable[[RolloutStats], str]) -> dict[str, float]:
    names = sorted({key(note) for note in rollouts})
    return {name: fmean([note.reward for note in rollouts if key(note) == name]) for name in names}
