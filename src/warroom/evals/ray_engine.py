"""The engine of a Ray cluster: workers that keep what plays, chunks of episodes, one file that this process writes."""

import platform
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from warroom.cluster.connection import check_machines, joined
from warroom.cluster.options import ClusterOptions
from warroom.cluster.pool import ChunkResult, Demand, GivenUp, Pool, demand_for, machine_id
from warroom.cluster.user_code import sent_along
from warroom.cluster.work_queue import Chunk, WorkQueue
from warroom.core.errors import EpisodeAborted
from warroom.core.signals import Interrupts
from warroom.core.user_files import file_hash
from warroom.envs import scenario_path
from warroom.evals.engines import BATCH, EpisodeLine, models_by_policy, play_chunk
from warroom.evals.plan import Plan
from warroom.policies import PolicySet, hf, llm
from warroom.runs import EpisodeKey

DRAINING = "no further episodes are begun, and what the workers have under way is waited for"
LogLine = Callable[[str], None]


@dataclass(frozen=True)
class PlayFiles:
    """Files that each machine must have as this one has them, by their hash."""

    weights: Mapping[str, str] = field(default_factory=dict)
    """Of models, by the name of the policy."""
    scenarios: Mapping[str, str] = field(default_factory=dict)
    """Of a user's scenarios, by id."""

    @classmethod
    def of(cls, plan: Plan, models: Collection[str]) -> "PlayFiles":
        """What plays a plan here."""
        return cls(_weights(models), _scenarios(plan.scenarios))

    def check(self) -> None:
        """A `ValueError` says which of them differ here, or are missing."""
        found = PlayFiles(_weights(self.weights), _scenarios(self.scenarios))
        wanted, there = {**self.weights, **self.scenarios}, {**found.weights, **found.scenarios}
        wrong = [name for name, hash_ in wanted.items() if there[name] != hash_]
        if wrong:
            raise ValueError(f"the files of {', '.join(wrong)} are not those of the machine that began the run")


def _weights(models: Collection[str]) -> dict[str, str]:
    return {name: found["sha256"] for name, found in hf.policy_status(models).items()}


def _scenarios(scenarios: Collection[str]) -> dict[str, str]:
    paths = {scenario: scenario_path(scenario) for scenario in scenarios}
    return {scenario: file_hash(path) for scenario, path in paths.items() if path is not None}


class EpisodeWorker:
    """Plays chunks of episodes of a plan, in a process of its own; models are loaded once."""

    def __init__(self, policy_sets: Mapping[str, PolicySet], files: PlayFiles) -> None:
        self._policy_sets, self._files = policy_sets, files

    def begin(self) -> str:
        """Load the models, and return the id of the machine; a `ValueError` names it and says why it cannot play."""
        try:
            self._files.check()
        except (ValueError, ImportError) as error:
            raise ValueError(f"{platform.node()} cannot play: {error}") from error
        return machine_id()

    def play(self, chunk: Chunk[EpisodeKey]) -> ChunkResult[EpisodeLine]:
        """Play a chunk; those of its episodes that have ended are kept whatever happens to the others."""
        start, ended, failed = time.perf_counter(), list[EpisodeLine](), None
        try:
            for line in play_chunk(self._policy_sets[chunk.group], chunk.tasks):
                ended.append(line)
        except Exception as error:  # raised again in the process that writes, once it has what the others played
            failed = error
        return ChunkResult(ended, time.perf_counter() - start, failed)


class RayEngine:
    """Plays the episodes of a plan on a cluster."""

    def __init__(self, plan: Plan, demand: Demand, log_line: LogLine) -> None:
        """`demand` is what a worker asks for, and how many there may be."""
        self._plan, self._demand, self._log_line = plan, demand, log_line
        self._pool: Pool[EpisodeKey, EpisodeLine] | None = None

    def detail(self) -> str:
        """Who plays at the moment, in words."""
        if self._pool is None:
            return ""
        machines = self._pool.machines
        return f"{machines} machine{'s' * (machines != 1)}, {self._pool.workers} workers"

    def play(self, todo: Sequence[EpisodeKey]) -> Generator[EpisodeLine, None, None]:
        """Each episode as its chunk comes; an interruption is raised once what is under way has come."""
        models = models_by_policy(self._plan)
        workers = max(1, min(self._demand.workers, len(todo)))
        files = PlayFiles.of(self._plan, {name for names in models.values() for name in names})
        batches = {policy: min(BATCH, -(-sum(key.policy == policy for key in todo) // workers)) for policy in models}
        todo = sorted(todo, key=lambda key: key.policy not in models)  # models take longest, so they come first
        queue = WorkQueue(todo, lambda key: key.policy, workers, batches)
        policy_sets = self._plan.policy_sets()
        with sent_along(policy_sets.values()), Interrupts(self._log_line, DRAINING) as interrupts:
            make = partial(EpisodeWorker, policy_sets, files)
            self._pool = Pool(make, self._demand._replace(workers=workers))
            try:
                for ended in self._pool.results(queue, lambda: interrupts.asked):
                    yield from _lines(ended)
            finally:
                self._pool.close()
            if interrupts.first is not None:
                raise interrupts.first


def _lines(ended: ChunkResult[EpisodeLine] | GivenUp[EpisodeKey]) -> Iterator[EpisodeLine]:
    if isinstance(ended, GivenUp):
        yield EpisodeLine(ended.task, EpisodeAborted(ended.why))
    else:
        yield from ended.results


@contextmanager
def ray_engine(plan: Plan, options: ClusterOptions, workers: int | None, log_line: LogLine) -> Iterator[RayEngine]:
    """An engine for a block of code: its cluster is joined or started, and every machine of it checked.

    `workers` is how many there may be, by default as many as the cluster has room for. A `ValueError` says why there is
    no cluster, or which machine cannot play.
    """
    models = [name for names in models_by_policy(plan).values() for name in names]
    if any(map(llm.is_llm, models)):
        raise ValueError("models behind an API share one budget in one process: play llm:MODEL with the engine local")
    with joined(options, workers) as cluster:
        check_machines(cluster.machines, tuple(hf.versions()) if models else ())
        demand = demand_for(cluster, options, workers, small=hf.are_small(models))
        machines = len(cluster.machines)
        log_line(f"Ray: {machines} machine{'s' * (machines != 1)}, {demand.workers} workers")
        yield RayEngine(plan, demand, log_line)
