"""Playing the matrix: several processes, every finished episode on disk at once, resumable at any point."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from warroom.core.errors import EpisodeAborted
from warroom.core.processes import worker_pool
from warroom.evals.plan import Plan
from warroom.evals.shards import ShardCollector, write_episode
from warroom.policies import PolicySet, hf, llm, policy_set
from warroom.rollout import play_as_ready
from warroom.runs import EpisodeKey, Run

if TYPE_CHECKING:
    from warroom.policies.llm.client import LLMClient

CHUNK = 4
"""Episodes of scripts that a worker plays before it reports: few, so that an interruption loses little."""
BATCH = 48
"""Episodes in which a model plays side by side."""
POLL_SECONDS = 1.0
"""Seconds after which this process looks what its workers have finished."""
Progress = Callable[[int], None]
"""Told the number of episodes that have just been written."""


class EpisodeLine(NamedTuple):
    """An episode that ended."""

    key: EpisodeKey
    line: str | EpisodeAborted
    """Its line for the run folder, or what kept it from its end."""


def play_plan(
    plan: Plan,
    run: Run,
    workers: int | None = None,
    progress: Progress = lambda count: None,
    client: "LLMClient | None" = None,
) -> dict[EpisodeKey, str]:
    """Play what the run still lacks, then bring its episodes into the plan's order.

    `workers` defaults to the number of cores; with one, everything happens in this process. An interruption leaves
    every episode that was finished in the run folder and is raised again, as is `RunStopped`. A model that is large, on
    a graphics card or behind a server (`client`) is one for all, and a class of this process is known to no other:
    everything happens in this process then.

    Returns the episodes that infrastructure or a policy of a user's kept from their end, with what went wrong.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    models = {
        policy: list(policy_set.models.values())
        for policy, policy_set in plan.policy_sets().items()
        if policy_set.models
    }
    served_policies = [policy for policy, names in models.items() if any(map(llm.is_llm, names))]
    small = not served_policies and hf.are_small(name for names in models.values() for name in names)
    workers = (workers or os.cpu_count() or 1) if small and not plan.objects else 1
    shards = ShardCollector(run, Counter(plan.matrix()))
    progress(shards.collect())  # what workers of an interrupted run had finished
    todo = missing(plan, run.played)
    workers = min(workers, len(chunked(todo, models, workers, served_policies)))
    chunks = chunked(todo, models, workers, served_policies)
    aborted: dict[EpisodeKey, str] = {}
    if workers <= 1:
        teams = plan.policy_sets(client)
        for chunk in chunks:
            width = client.api.concurrency if client is not None and chunk[0].policy in served_policies else None
            aborted |= _record(run, play_chunk(teams[chunk[0].policy], chunk, width), progress)
    else:
        aborted = _play_in_processes(plan, shards, chunks, workers, progress)
    shards.remove()
    run.sort_episodes(plan.matrix())
    return aborted


def chunked(
    todo: Sequence[EpisodeKey], models: Collection[str], workers: int, served_policies: Collection[str] = ()
) -> list[list[EpisodeKey]]:
    """What is played at once: several episodes of one model, which are the longest and come first, or a few of scripts.

    A policy of `served` has a model behind a server: all of its episodes are one chunk, in which as many are played
    side by side as there may be requests. In this process scripts play one episode at a time.
    """
    out = []
    for policy in dict.fromkeys(key.policy for key in todo if key.policy in models):
        own = [key for key in todo if key.policy == policy]
        out += [own] if policy in served_policies else _chunks(own, max(1, min(BATCH, -(-len(own) // workers))))
    scripted = [key for key in todo if key.policy not in models]
    return out + _chunks(scripted, CHUNK if workers > 1 else 1)


def _chunks(keys: Sequence[EpisodeKey], size: int) -> list[list[EpisodeKey]]:
    return [list(keys[start : start + size]) for start in range(0, len(keys), size)]


def missing(plan: Plan, finished: Mapping[EpisodeKey, int]) -> list[EpisodeKey]:
    """The episodes of the plan that are not yet played, in its order."""
    left, todo = Counter(finished), []
    for key in plan.matrix():
        if left[key] > 0:
            left[key] -= 1
        else:
            todo.append(key)
    return todo


def play_chunk(policies: PolicySet, keys: Sequence[EpisodeKey], width: int | None = None) -> Iterator[EpisodeLine]:
    """Play some episodes of one policy, at most `width` side by side, and give each as it ends."""
    for finished in play_as_ready([key.spec for key in keys], policies, width):
        ended = finished.result
        yield EpisodeLine(keys[finished.index], ended if isinstance(ended, EpisodeAborted) else ended.to_json())


def play_keys(env: str, keys: Sequence[EpisodeKey], folder: str) -> dict[EpisodeKey, str]:
    """Play some episodes in a worker, which keeps them in `folder`; an exception carries a note with the episode.

    Returns those that could not be played, with what went wrong.
    """
    aborted = {}
    for policy in dict.fromkeys(key.policy for key in keys):
        for key, ended in play_chunk(_cached_policy_set(env, policy), [key for key in keys if key.policy == policy]):
            if isinstance(ended, EpisodeAborted):
                aborted[key] = str(ended)
            else:
                write_episode(folder, key, ended)
    return aborted


@cache
def _cached_policy_set(env: str, policy: str) -> PolicySet:
    """One policy set per process, so that a model is loaded once."""
    return policy_set(env, policy)


def _play_in_processes(
    plan: Plan, shards: ShardCollector, chunks: Sequence[list[EpisodeKey]], workers: int, progress: Progress
) -> dict[EpisodeKey, str]:
    aborted: dict[EpisodeKey, str] = {}
    try:
        with worker_pool(workers) as pool:
            play = partial(play_keys, plan.env, folder=str(shards.folder))
            for ended in pool.results(play, chunks, POLL_SECONDS):
                progress(shards.collect())
                aborted |= ended.value if ended else {}
    finally:
        progress(shards.collect())
    return aborted


def _record(run: Run, ended: Iterable[EpisodeLine], progress: Progress) -> dict[EpisodeKey, str]:
    """Write episodes as they end; returns those that could not be played, with what went wrong."""
    aborted = {}
    for key, line in ended:
        if isinstance(line, EpisodeAborted):
            aborted[key] = str(line)
        else:
            run.append(key, line)
            progress(1)
    return aborted


def summarise_errors(aborted: Mapping[EpisodeKey, str]) -> list[str]:
    """Each distinct error once: whose it is, how many episodes it kept from their end, and which was the first."""
    groups: dict[tuple[str, str], list[EpisodeKey]] = {}
    for key, error in aborted.items():
        groups.setdefault((key.policy, error), []).append(key)
    return [
        f"{policy}: {error} ({len(keys)} episode{'s' * (len(keys) > 1)}, first {keys[0].spec})"
        for (policy, error), keys in groups.items()
    ]
