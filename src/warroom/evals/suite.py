"""Playing the matrix: several processes, every finished episode on disk at once, resumable at any point."""

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from typing import Any

from warroom.evals.plan import Plan
from warroom.policies import Team, hf, team
from warroom.rollout import Game, play_many
from warroom.runs import Key, Run

CHUNK = 4
"""Episodes of scripts that a worker plays before it reports: few, so that an interruption loses little."""
BATCH = 48
"""Episodes in which a model plays side by side."""
Played = list[tuple[Key, str]]
Watcher = Callable[[int], None]
"""Told the number of episodes that have just been written."""


def play_plan(plan: Plan, run: Run, workers: int | None = None, watch: Watcher = lambda count: None) -> None:
    """Play what the run still lacks, then bring its episodes into the plan's order.

    `workers` defaults to the number of cores; with one, everything happens in this process. An interruption leaves
    every episode that was finished in the run folder and is raised again. A model that is large, or on a graphics card,
    is loaded once: everything happens in this process then.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    models = {policy: team.models.values() for policy, team in plan.teams().items() if team.models}
    small = hf.are_small(name for names in models.values() for name in names)
    workers = (workers or os.cpu_count() or 1) if small else 1
    todo = missing(plan, run.played)
    chunks = chunked(todo, models, workers)
    workers = min(workers, len(chunks))
    if workers <= 1:
        for chunk in chunks:
            _record(run, play_keys(plan.env, plan.options, chunk), watch)
    else:
        _play_in_processes(plan, run, chunks, workers, watch)
    run.settle(plan.matrix())


def chunked(todo: Sequence[Key], models: Collection[str], workers: int) -> list[list[Key]]:
    """What is played at once: several episodes of one model, which are the longest and come first, or a few of scripts.

    In this process scripts play one episode at a time, so that an interruption loses that one alone.
    """
    scripted = [key for key in todo if key.policy not in models]
    out = []
    for policy in dict.fromkeys(key.policy for key in todo if key.policy in models):
        own = [key for key in todo if key.policy == policy]
        out += _cut(own, max(1, min(BATCH, -(-len(own) // workers))))
    return out + _cut(scripted, CHUNK if workers > 1 else 1)


def _cut(keys: Sequence[Key], size: int) -> list[list[Key]]:
    return [list(keys[start : start + size]) for start in range(0, len(keys), size)]


def missing(plan: Plan, played: Mapping[Key, int]) -> list[Key]:
    """The episodes of the plan that are not yet played, in its order."""
    left, todo = Counter(played), []
    for key in plan.matrix():
        if left[key] > 0:
            left[key] -= 1
        else:
            todo.append(key)
    return todo


def play_keys(env: str, options: Mapping[str, Any], keys: Sequence[Key]) -> Played:
    """Play some episodes and return their lines for the run folder; a defect names the episode that showed it."""
    out: Played = []
    for policy in dict.fromkeys(key.policy for key in keys):
        own = [key for key in keys if key.policy == policy]
        games = [Game(key.scenario, key.tier, key.seed, key.attempt) for key in own]
        episodes = play_many(games, _team(env, policy), options)
        out += [(key, episode.to_json()) for key, episode in zip(own, episodes, strict=True)]
    return out


@cache
def _team(env: str, policy: str) -> Team:
    """One team per process: what a policy loads, it loads once."""
    return team(env, policy)


def _play_in_processes(plan: Plan, run: Run, chunks: Sequence[list[Key]], workers: int, watch: Watcher) -> None:
    strangers = set(multiprocessing.active_children())
    # Fresh processes, not forks: a fork beside the threads of a progress bar may hang.
    context = multiprocessing.get_context("spawn")
    threads = max(1, (os.cpu_count() or 1) // workers)
    pool = ProcessPoolExecutor(workers, context, initializer=_share_cores, initargs=(threads,))
    with _interrupts_held():
        waiting = {pool.submit(play_keys, plan.env, plan.options, chunk) for chunk in chunks}
    try:
        for future in as_completed(set(waiting)):
            waiting.remove(future)
            _record(run, future.result(), watch)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - strangers:
            child.terminate()
        raise
    finally:
        for future in _succeeded(waiting):
            _record(run, future.result(), watch)
    pool.shutdown()


def _share_cores(threads: int) -> None:
    """Leave the other workers their cores: read by the libraries of models when they are first imported."""
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))


def _record(run: Run, played: Played, watch: Watcher) -> None:
    for key, line in played:
        run.append(key, line)
    watch(len(played))


def _succeeded(futures: set[Future[Played]]) -> Iterator[Future[Played]]:
    """Those that finished well and were not written yet."""
    return (f for f in futures if f.done() and not f.cancelled() and f.exception() is None)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while processes start: they inherit the mask, and the terminal interrupts this process alone."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
