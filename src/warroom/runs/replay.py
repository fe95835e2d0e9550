"""Episodes played again from their recorded calls."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from warroom.core.types import ToolCall
from warroom.envs import make
from warroom.episode import Episode, Step, build_episode, record_step


class ReplayMismatch(ValueError):
    """A replayed episode went another way than its record."""


def replay(episode: Episode) -> Episode:
    """Play an episode again from its recorded calls; a `Mismatch` names the first step that differs."""
    env = make(episode.spec)
    steps: list[Step] = []
    for step in episode.steps:
        if env.done:
            raise _ended_elsewhere(episode, steps, f"over after {len(steps)} of {len(episode.steps)} calls")
        played, _ = record_step(env, ToolCall(step.tool, step.arguments), env.observe().render(), step.message)
        steps.append(played)
    if not env.done:
        raise _ended_elsewhere(episode, steps, f"not over after all {len(steps)} calls")
    again = build_episode(env, episode.policy, steps)
    if again.to_json() != episode.to_json():
        raise _mismatch(episode, first_difference(episode, again))
    return again


def first_difference(recorded: Episode, replayed: Episode) -> str:
    """Where two plays of one episode part, in words."""
    parted = _parting(recorded.steps, replayed.steps)
    if parted is not None:
        return parted
    old_line, new_line = json.loads(recorded.to_json()), json.loads(replayed.to_json())
    name = next(name for name in old_line if old_line[name] != new_line[name])
    return f"its {name} differs: recorded {old_line[name]!r}, now {new_line[name]!r}"


def _parting(recorded: Sequence[Step], replayed: Sequence[Step]) -> str | None:
    """The first call of two plays that differs, in words; None where none does."""
    for number, (old, new) in enumerate(zip(recorded, replayed, strict=False)):
        before, after = _comparable(old), _comparable(new)
        for name in before:
            if before[name] != after[name]:
                return f"step {number} ({old.seat}) differs in {name}: recorded {before[name]!r}, now {after[name]!r}"
    return None


def _ended_elsewhere(episode: Episode, steps: Sequence[Step], how: str) -> ReplayMismatch:
    """The calls led to another end, or to none; where one of them was answered otherwise, that came first."""
    parted = _parting(episode.steps, steps)
    return _mismatch(episode, f"{parted}; {how}" if parted else how)


def _comparable(step: Step) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(asdict(step)))
    return read


def _mismatch(episode: Episode, what: str) -> ReplayMismatch:
    return ReplayMismatch(f"{episode.spec} by {episode.policy}: {what}")
