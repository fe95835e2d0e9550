"""The speed of an environment on one core, by component."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol, cast, runtime_checkable

from warroom.core.env import Env
from warroom.core.errors import UnknownName
from warroom.core.scenario import TIERS
from warroom.core.splits import Split, seed_of
from warroom.core.types import Observation
from warroom.envs import make, suite
from warroom.policies import PolicySet, policy_set

NOOP_POLICY, TURNS = "noop", 10
"""The default policy, and the turns that it plays; other policies play to the end."""
IMPORTS = 3
"""Fresh processes whose import is timed; the fastest counts."""
_IMPORT = (
    "import time; start = time.perf_counter(); import warroom.rollout; from warroom.envs import scenarios; "
    "scenarios(); print(time.perf_counter() - start)"
)


@runtime_checkable
class AllSeatsObservable(Protocol):
    """An environment that shows any seat's page at any time."""

    def view(self, seat: str) -> Observation:
        """The page of a seat as of now."""


@dataclass(slots=True)
class TimeBreakdown:
    """Seconds of processor time by component, over some episodes."""

    episodes: int = 0
    generation: float = 0.0
    """Building the incident, including its certificate."""
    turns: float = 0.0
    """Advancing the world, and rewards."""
    text: float = 0.0
    """Observations and their rendering."""
    policy: float = 0.0
    """Choosing calls."""

    @property
    def total(self) -> float:
        """All seconds."""
        return self.generation + self.turns + self.text + self.policy

    def to_json(self) -> dict[str, float]:
        """Episodes a second, and milliseconds an episode by part."""
        parts = {f"{name}_ms": 1000 * getattr(self, name) / self.episodes for name in COMPONENTS}
        return {"episodes_per_second": self.episodes / self.total, **parts, "episodes": self.episodes}


COMPONENTS = ("generation", "turns", "text", "policy")
Show = Callable[[Env], None]


@dataclass(frozen=True)
class BenchmarkConfig:
    """What is measured."""

    env: str
    tier: str
    policy: str = NOOP_POLICY
    options: Mapping[str, object] | None = None
    """Options of the environment."""

    def incidents(self) -> Iterator[Env]:
        """Fresh incidents of the default suite, one scenario after another, without end."""
        scenarios = suite(self.env)
        for k in count():
            yield make(scenarios[k % len(scenarios)], self.tier, seed_of(Split.TRAIN, k), **(self.options or {}))


def run_bench(config: BenchmarkConfig, seconds: float) -> dict[str, Any]:
    """Measure an environment's default suite for about `seconds` per arm.

    Arms: the acting seat's text each turn, and every seat's text each turn (null where the environment cannot show
    that). Unless a policy is named all seats wait, so that no policy's time is in it.
    """
    if config.tier not in TIERS:
        raise UnknownName("tier", config.tier, TIERS)
    if seconds <= 0:
        raise ValueError(f"seconds must be above 0, got {seconds}")
    acting = measure(config, seconds, _show_acting)
    all_seats_observable = isinstance(next(config.incidents()), AllSeatsObservable)
    everyone = measure(config, seconds, _show_all) if all_seats_observable else None
    return {
        "env": config.env,
        "tier": config.tier,
        "policy": config.policy,
        "turns": TURNS if config.policy == NOOP_POLICY else None,
        "acting_seat": acting.to_json(),
        "all_seats": everyone.to_json() if everyone else None,
        "import_seconds": import_seconds(),
        "python": sys.version.split()[0],
    }


def measure(config: BenchmarkConfig, seconds: float, show: Show) -> TimeBreakdown:
    """Play episodes until `seconds` have gone, at least one of each scenario."""
    incidents, players, timing = config.incidents(), policy_set(config.env, config.policy), TimeBreakdown()
    min_episodes, max_turns = len(suite(config.env)), TURNS if config.policy == NOOP_POLICY else sys.maxsize
    _play(incidents, players, max_turns, show, TimeBreakdown())
    while timing.total < seconds or timing.episodes < min_episodes:
        _play(incidents, players, max_turns, show, timing)
    return timing


def import_seconds() -> float:
    """Seconds that importing the episode loop and every scenario takes in a fresh process."""
    runs = (
        subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True)
        for _ in range(IMPORTS)
    )
    return min(float(run.stdout) for run in runs)


def _show_acting(env: Env) -> None:
    env.observe().render()


def _show_all(env: Env) -> None:
    for seat in env.SEATS:
        cast(AllSeatsObservable, env).view(seat).render()


def _play(incidents: Iterator[Env], players: PolicySet, max_turns: int, show: Show, timing: TimeBreakdown) -> None:
    clock = time.process_time  # what else the machine does is not counted
    start = clock()
    env = next(incidents)
    timing.generation += clock() - start
    policies = {seat: players.seat(env, seat) for seat in env.SEATS}
    while not env.done and env.turn < max_turns:
        start = clock()
        show(env)
        shown = clock()
        call = policies[env.seat].act(env.observe())
        chosen = clock()
        env.step(call)
        timing.text += shown - start
        timing.policy += chosen - shown
        timing.turns += clock() - chosen
    timing.episodes += 1
