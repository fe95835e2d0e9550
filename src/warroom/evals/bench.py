"""How fast the environment is, on one core, and where the time goes."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol, cast, runtime_checkable

from warroom.core.env import Env
from warroom.core.errors import Unknown
from warroom.core.scenario import TIERS
from warroom.core.splits import Split, seed_of
from warroom.core.types import Observation, ToolCall
from warroom.envs import make, suite

TURNS = 10
"""Turns of a measured episode."""
IMPORTS = 3
"""Fresh processes whose import is timed; the fastest counts."""
_IMPORT = (
    "import time; start = time.perf_counter(); import warroom.rollout; from warroom.envs import scenarios; "
    "scenarios(); print(time.perf_counter() - start)"
)


@runtime_checkable
class Viewed(Protocol):
    """An environment that shows any seat's page at any time."""

    def view(self, seat: str) -> Observation:
        """The page of a seat as of now."""
        ...


@dataclass(slots=True)
class Spent:
    """Seconds by what they went to, over some episodes."""

    episodes: int = 0
    generation: float = 0.0
    """Building the incident, certificate included."""
    turns: float = 0.0
    """The world moving on, and rewards."""
    text: float = 0.0
    """Observations and their rendering."""

    @property
    def total(self) -> float:
        """All seconds."""
        return self.generation + self.turns + self.text

    def to_json(self) -> dict[str, float]:
        """Episodes a second, and milliseconds an episode by part."""
        parts = {f"{name}_ms": 1000 * getattr(self, name) / self.episodes for name in ("generation", "turns", "text")}
        return {"episodes_per_second": self.episodes / self.total, **parts, "episodes": self.episodes}


Show = Callable[[Env], None]


@dataclass
class _Idle:
    """The call that does nothing, asked of each environment once."""

    calls: dict[str, ToolCall] = field(default_factory=dict)

    def of(self, env: Env) -> ToolCall:
        if env.seat not in self.calls:
            self.calls[env.seat] = env.brief(env.seat).idle
        return self.calls[env.seat]


def run_bench(env: str, tier: str, seconds: float) -> dict[str, Any]:
    """Measure an environment's default suite for about `seconds` per arm.

    Arms: the acting seat's text each turn, and every seat's text each turn (null where the environment cannot show
    that). All seats wait, so that no policy's time is in it.
    """
    if tier not in TIERS:
        raise Unknown("tier", tier, TIERS)
    if seconds <= 0:
        raise ValueError(f"seconds must be above 0, got {seconds}")
    first = make(suite(env)[0], tier, seed_of(Split.TRAIN, 0))
    acting = measure(env, tier, seconds, _show_acting)
    everyone = measure(env, tier, seconds, _show_all) if isinstance(first, Viewed) else None
    return {
        "env": env,
        "tier": tier,
        "turns": TURNS,
        "acting_seat": acting.to_json(),
        "all_seats": everyone.to_json() if everyone else None,
        "import_seconds": import_seconds(),
        "python": sys.version.split()[0],
    }


def measure(env: str, tier: str, seconds: float, show: Show) -> Spent:
    """Play idle episodes until `seconds` have gone, at least one of each scenario."""
    incidents, spent, idle = _incidents(env), Spent(), _Idle()
    least = len(suite(env))
    _play(*next(incidents), tier, show, idle, Spent())
    while spent.total < seconds or spent.episodes < least:
        _play(*next(incidents), tier, show, idle, spent)
    return spent


def import_seconds() -> float:
    """Seconds that importing the episode loop and every scenario takes in a fresh process."""
    runs = (
        subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True)
        for _ in range(IMPORTS)
    )
    return min(float(run.stdout) for run in runs)


def _incidents(env: str) -> Iterator[tuple[str, int]]:
    scenarios = suite(env)
    return ((scenarios[i % len(scenarios)], seed_of(Split.TRAIN, i)) for i in count())


def _show_acting(env: Env) -> None:
    env.observe().render()


def _show_all(env: Env) -> None:
    for seat in env.SEATS:
        cast(Viewed, env).view(seat).render()


def _play(scenario: str, seed: int, tier: str, show: Show, idle: _Idle, spent: Spent) -> None:
    clock = time.perf_counter
    start = clock()
    env = make(scenario, tier, seed)
    spent.generation += clock() - start
    for _ in range(TURNS):
        if env.done:
            break
        call, start = idle.of(env), clock()
        show(env)
        shown = clock()
        env.step(call)
        spent.text += shown - start
        spent.turns += clock() - shown
    spent.episodes += 1
