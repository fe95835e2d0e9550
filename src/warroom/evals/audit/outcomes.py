"""Many teams on many incidents, only the outcomes kept: what audits and searches count."""

import multiprocessing
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from warroom.core.env import Env
from warroom.core.splits import seed_of
from warroom.envs import make
from warroom.policies import PolicySet

CHUNK = 4
"""Incidents that a worker plays with every team before it reports."""
Progress = Callable[[int], None]
"""Told the number of episodes that have just been played."""


class Incident(NamedTuple):
    """One incident by its coordinates."""

    scenario: str
    tier: str
    seed: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A team under its name; `make` is called in the process that plays it, so it must pickle."""

    name: str
    make: Callable[[], PolicySet]


@dataclass(frozen=True, slots=True)
class OutcomeRules:
    """How an environment's episodes are read; pickles, since processes take it along."""

    read_only_tools: frozenset[str]
    """Tools that only look or wait."""
    wrong: Callable[[Env], bool]
    """Whether anything is wrong in an incident: False for a false alarm."""


@dataclass(frozen=True, slots=True)
class IncidentOutcome:
    """What one team made of one incident."""

    candidate: str
    incident: Incident
    points: float
    score: float
    ceiling: float
    """Points of the oracle on that incident."""
    solved: bool
    wrong: bool
    """Whether anything was wrong: False for a false alarm."""
    passive: bool
    """Whether every call that was accepted only waited or looked."""


def incidents(scenarios: Sequence[str], tier: str, split: str, seeds: Sequence[int]) -> list[Incident]:
    """Every scenario at every seed of the split."""
    return [Incident(scenario, tier, seed_of(split, k)) for k in seeds for scenario in scenarios]


def play_episode(
    candidate: str,
    policy_set: PolicySet,
    incident: Incident,
    outcome_rules: OutcomeRules,
    options: Mapping[str, Any] | None = None,
) -> IncidentOutcome:
    """Play one incident to its end without a record: many times faster, and nobody reads these episodes."""
    env = make(*incident, **(options or {}))
    policies = {seat: policy_set.seat(env, seat) for seat in env.SEATS}
    passive = True
    while not env.done:
        call = policies[env.seat].act(env.observe())
        turn = env.step(call)
        passive = passive and (turn.refused or call.name in outcome_rules.read_only_tools)
    solved = env.outcome()["solved"] is True
    return IncidentOutcome(
        candidate, incident, env.total, env.score(), env.bounds()[1], solved, outcome_rules.wrong(env), passive
    )


def play_all(
    candidates: Sequence[Candidate],
    todo: Sequence[Incident],
    outcome_rules: OutcomeRules,
    workers: int = 1,
    progress: Progress = lambda count: None,
    options: Mapping[str, Any] | None = None,
) -> list[IncidentOutcome]:
    """Every entrant on every incident, in that order of incidents whatever the number of processes.

    `options` are what incidents are built from besides.
    """
    if workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    chunks = [todo[start : start + CHUNK] for start in range(0, len(todo), CHUNK)]
    chunk_play = partial(_play_chunk, candidates, outcome_rules=outcome_rules, options=options)
    if workers == 1 or len(chunks) < 2:
        played = []
        for chunk in chunks:
            played.append(chunk_play(chunk))
            progress(len(played[-1]))
    else:
        played = _in_processes(chunk_play, chunks, workers, progress)
    return [outcome for part in played for outcome in part]


def _play_chunk(
    candidates: Sequence[Candidate],
    chunk: Sequence[Incident],
    outcome_rules: OutcomeRules,
    options: Mapping[str, Any] | None,
) -> list[IncidentOutcome]:
    teams = [(candidate.name, candidate.make()) for candidate in candidates]
    return [
        play_episode(name, policy_set, incident, outcome_rules, options)
        for incident in chunk
        for name, policy_set in teams
    ]


def _in_processes(
    play: Callable[[Sequence[Incident]], list[IncidentOutcome]],
    chunks: Sequence[Sequence[Incident]],
    workers: int,
    progress: Progress,
) -> list[list[IncidentOutcome]]:
    # Fresh processes, not forks: a fork beside the threads of a progress bar may hang. They leave Ctrl-C to this one.
    context = multiprocessing.get_context("spawn")
    quiet = (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(workers, context, initializer=signal.signal, initargs=quiet) as pool:
        futures = {pool.submit(play, chunk): k for k, chunk in enumerate(chunks)}
        try:
            for future in as_completed(futures):
                progress(len(future.result()))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]
