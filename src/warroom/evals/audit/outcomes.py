"""Many policies on many incidents with only the outcomes kept: what audits and searches count."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from warroom.core.env import Env
from warroom.core.options import Options
from warroom.core.processes import worker_pool
from warroom.core.spec import EpisodeSpec
from warroom.core.splits import seed_of
from warroom.envs import make, resolve_spec
from warroom.policies import PolicySet

CHUNK = 4
"""Incidents that a worker plays with every candidate before it reports."""
Progress = Callable[[int], None]
"""Called with the number of episodes that have just been played."""
Environment = TypeVar("Environment", bound=Env)
NO_OPTIONS = Options()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy set under its name; `make` is called in the process that plays it, so it must pickle."""

    name: str
    make: Callable[[], PolicySet]


@dataclass(frozen=True, slots=True)
class OutcomeRules:
    """How an environment's episodes are read; it must pickle, since other processes use it."""

    read_only_tools: frozenset[str]
    """Tools that only look or wait."""
    wrong: Callable[[Env], bool]
    """Whether anything is wrong in an incident: False for a false alarm."""


@dataclass(frozen=True, slots=True)
class IncidentOutcome:
    """The result of one candidate on one incident."""

    candidate: str
    incident: EpisodeSpec
    points: float
    score: float
    ceiling: float
    """Points of the oracle on that incident."""
    solved: bool
    wrong: bool
    """Whether anything was wrong: False for a false alarm."""
    passive: bool
    """Whether every call that was accepted only waited or looked."""


def incidents(
    scenarios: Sequence[str], tier: str, split: str, seeds: Sequence[int], options: Options = NO_OPTIONS
) -> list[EpisodeSpec]:
    """Every scenario at every seed of the split, with these options of the environment."""
    return [EpisodeSpec(scenario, tier, seed_of(split, k), options) for k in seeds for scenario in scenarios]


def with_options(spec: EpisodeSpec, **options: object) -> EpisodeSpec:
    """The spec with these options of its environment changed and the others kept."""
    resolved = resolve_spec(spec)
    return replace(resolved, options=replace(resolved.options, **options))


def narrowed(env: Env, kind: type[Environment]) -> Environment:
    """The environment under the type that it is known to have."""
    assert isinstance(env, kind)
    return env


def play_out(env: Environment, policy_set: PolicySet) -> Environment:
    """Play an environment to its end without a record, and return it."""
    policies = {seat: policy_set.seat(env, seat) for seat in env.SEATS}
    while not env.done:
        env.step(policies[env.seat].act(env.observe()))
    return env


def play_episode(
    candidate: str,
    policy_set: PolicySet,
    incident: EpisodeSpec,
    outcome_rules: OutcomeRules,
) -> IncidentOutcome:
    """Play one incident to its end and keep its outcome only: many times faster than a full record."""
    env = make(incident)
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
    todo: Sequence[EpisodeSpec],
    outcome_rules: OutcomeRules,
    *,
    workers: int = 1,
    progress: Progress = lambda count: None,
) -> list[IncidentOutcome]:
    """Every candidate on every incident, in the order of `todo` whatever the number of processes."""
    if workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    chunks = [todo[start : start + CHUNK] for start in range(0, len(todo), CHUNK)]
    chunk_play = partial(_play_chunk, candidates, outcome_rules=outcome_rules)
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
    chunk: Sequence[EpisodeSpec],
    outcome_rules: OutcomeRules,
) -> list[IncidentOutcome]:
    policy_sets = [(candidate.name, candidate.make()) for candidate in candidates]
    return [
        play_episode(name, policy_set, incident, outcome_rules)
        for incident in chunk
        for name, policy_set in policy_sets
    ]


def _in_processes(
    play: Callable[[Sequence[EpisodeSpec]], list[IncidentOutcome]],
    chunks: Sequence[Sequence[EpisodeSpec]],
    workers: int,
    progress: Progress,
) -> list[list[IncidentOutcome]]:
    with worker_pool(workers) as pool:
        ended: dict[int, list[IncidentOutcome]] = {}
        for result in filter(None, pool.results(play, chunks)):
            ended[result.task] = result.value
            progress(len(result.value))
    return [ended[index] for index in range(len(chunks))]
