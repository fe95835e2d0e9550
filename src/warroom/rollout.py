"""The episode loop: the only one. Evaluation and the terminal play by it; a loop of another's ends in `finish` too."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from warroom.core.env import Env
from warroom.core.episode import Episode, Step, trajectory_digest
from warroom.core.splits import split_of
from warroom.core.types import ToolCall, Turn
from warroom.envs import make
from warroom.policies import Team

Watcher = Callable[[Env, Step, Turn], None]
"""Sees each step after it was played; watches, never drives."""


def play(
    scenario: str,
    tier: str,
    seed: int,
    team: Team,
    watch: Watcher | None = None,
    options: Mapping[str, Any] | None = None,
) -> Episode:
    """Play one incident to its end and return its record."""
    env = make(scenario, tier, seed, **(options or {}))
    policies = {seat: team.seat(env, seat) for seat in env.SEATS}
    steps: list[Step] = []
    while not env.done:
        observation = env.observe()
        step, turn = take(env, policies[env.seat].act(observation), observation.render())
        steps.append(step)
        if watch is not None:
            watch(env, step, turn)
    return finish(env, scenario, team.name, steps, options or {})


def take(env: Env, call: ToolCall, shown: str) -> tuple[Step, Turn]:
    """Play one call and note what surrounded it; for loops that are not ours (trainers, servers)."""
    number, seat = env.turn, env.seat
    turn = env.step(call)
    step = Step(
        number,
        seat,
        shown,
        call.name,
        call.arguments,
        turn.result.render(),
        turn.reward,
        env.points(),
        turn.refused,
    )
    return step, turn


def finish(env: Env, scenario: str, policy: str, steps: list[Step], options: Mapping[str, Any]) -> Episode:
    """The record of a finished episode, with the hash of its trajectory."""
    episode = Episode(
        env=env.name,
        scenario=scenario,
        tier=env.tier,
        seed=env.seed,
        split=split_of(env.seed).value,
        policy=policy,
        briefs={seat: env.brief(seat).render() for seat in env.SEATS},
        steps=tuple(steps),
        points=env.points(),
        total=env.total,
        score=env.score(),
        outcome=env.outcome(),
        truth=env.truth(),
        options=dict(options),
    )
    return replace(episode, digest=trajectory_digest(episode.steps))
