"""Playing the matrix: several processes, every finished episode on disk at once, resumable at any point."""

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from typing import Any

from warroom.evals.plan import Plan
from warroom.policies import Team, team
from warroom.rollout import play
from warroom.runs import Key, Run

CHUNK = 4
"""Episodes a worker plays before it reports: few, so that an interruption loses little."""
Played = list[tuple[Key, str]]
Watcher = Callable[[int], None]
"""Told the number of episodes that have just been written."""


def play_plan(plan: Plan, run: Run, workers: int | None = None, watch: Watcher = lambda count: None) -> None:
    """Play what the run still lacks, then bring its episodes into the plan's order.

    `workers` defaults to the number of cores; with one, everything happens in this process. An interruption leaves
    every episode that was finished in the run folder and is raised again.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    todo = missing(plan, run.played)
    chunks = [todo[start : start + CHUNK] for start in range(0, len(todo), CHUNK)]
    workers = min(workers or os.cpu_count() or 1, len(chunks))
    if workers <= 1:
        for key in todo:
            _record(run, play_keys(plan.env, plan.options, [key]), watch)
    else:
        _play_in_processes(plan, run, chunks, workers, watch)
    run.settle(plan.matrix())


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
    for key in keys:
        try:
            episode = play(key.scenario, key.tier, key.seed, _team(env, key.policy), options=options)
        except Exception as error:
            error.add_note(f"while {key.policy} played {key.scenario} {key.tier}, seed {key.seed}")
            raise
        out.append((key, episode.to_json()))
    return out


@cache
def _team(env: str, policy: str) -> Team:
    """One team per process: what a policy loads, it loads once."""
    return team(env, policy)


def _play_in_processes(plan: Plan, run: Run, chunks: Sequence[list[Key]], workers: int, watch: Watcher) -> None:
    strangers = set(multiprocessing.active_children())
    # Fresh processes, not forks: a fork beside the threads of a progress bar may hang.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
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
