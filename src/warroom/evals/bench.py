"""How fast the environment is, on one core, and where the time goes."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol, cast, runtime_checkable

from warroom.core.env import Env
from warroom.core.errors import Unknown
from warroom.core.scenario import TIERS
from warroom.core.splits import Split, seed_of
from warroom.core.types import Observation
from warroom.envs import make, suite
from warroom.policies import Team, team

IDLE, TURNS = "noop", 10
"""Who plays a measured episode unless another is named, and the turns that this lasts; others play to the end."""
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
    policy: float = 0.0
    """What whoever plays thinks."""

    @property
    def total(self) -> float:
        """All seconds."""
        return self.generation + self.turns + self.text + self.policy

    def to_json(self) -> dict[str, float]:
        """Episodes a second, and milliseconds an episode by part."""
        parts = {f"{name}_ms": 1000 * getattr(self, name) / self.episodes for name in PARTS}
        return {"episodes_per_second": self.episodes / self.total, **parts, "episodes": self.episodes}


PARTS = ("generation", "turns", "text", "policy")
Show = Callable[[Env], None]


@dataclass(frozen=True)
class Course:
    """What is measured."""

    env: str
    tier: str
    policy: str = IDLE
    options: Mapping[str, Any] | None = None
    """What the incidents are built from besides."""

    def incidents(self) -> Iterator[Env]:
        """Fresh incidents of the default suite, one scenario after another, for ever."""
        scenarios = suite(self.env)
        for k in count():
            yield make(scenarios[k % len(scenarios)], self.tier, seed_of(Split.TRAIN, k), **(self.options or {}))


def run_bench(course: Course, seconds: float) -> dict[str, Any]:
    """Measure an environment's default suite for about `seconds` per arm.

    Arms: the acting seat's text each turn, and every seat's text each turn (null where the environment cannot show
    that). Unless a policy is named all seats wait, so that no policy's time is in it.
    """
    if course.tier not in TIERS:
        raise Unknown("tier", course.tier, TIERS)
    if seconds <= 0:
        raise ValueError(f"seconds must be above 0, got {seconds}")
    acting = measure(course, seconds, _show_acting)
    viewed = isinstance(next(course.incidents()), Viewed)
    everyone = measure(course, seconds, _show_all) if viewed else None
    return {
        "env": course.env,
        "tier": course.tier,
        "policy": course.policy,
        "turns": TURNS if course.policy == IDLE else None,
        "acting_seat": acting.to_json(),
        "all_seats": everyone.to_json() if everyone else None,
        "import_seconds": import_seconds(),
        "python": sys.version.split()[0],
    }


def measure(course: Course, seconds: float, show: Show) -> Spent:
    """Play episodes until `seconds` have gone, at least one of each scenario."""
    incidents, players, spent = course.incidents(), team(course.env, course.policy), Spent()
    least, most = len(suite(course.env)), TURNS if course.policy == IDLE else sys.maxsize
    _play(incidents, players, most, show, Spent())
    while spent.total < seconds or spent.episodes < least:
        _play(incidents, players, most, show, spent)
    return spent


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
        cast(Viewed, env).view(seat).render()


def _play(incidents: Iterator[Env], players: Team, most: int, show: Show, spent: Spent) -> None:
    clock = time.perf_counter
    start = clock()
    env = next(incidents)
    spent.generation += clock() - start
    policies = {seat: players.seat(env, seat) for seat in env.SEATS}
    while not env.done and env.turn < most:
        start = clock()
        show(env)
        shown = clock()
        call = policies[env.seat].act(env.observe())
        chosen = clock()
        env.step(call)
        spent.text += shown - start
        spent.policy += chosen - shown
        spent.turns += clock() - chosen
    spent.episodes += 1
