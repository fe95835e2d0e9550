"""What a fleet scenario file declares: a failure by its cause, or an arm that varies the failures."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from warroom.core.rng import stream
from warroom.sim.incident import Cast

NO_INCIDENT = "no_incident"
CORE, FULL = "core", "full"


class Plot(NamedTuple):
    """One incident's cause as the scenario drew it."""

    root_cause: str
    """The name that the SRE has to declare."""
    cast: Cast


@dataclass(frozen=True)
class Failure:
    """A failure with a name of its own, caused by nature, by a colleague or by a rogue agent."""

    name: str
    story: str
    cast: Cast
    suites: tuple[str, ...] = (FULL,)

    def plot(self, seed: int, tier: str, failures: dict[str, "Failure"]) -> Plot:
        """Always the same cause."""
        return Plot(self.name, self.cast)


@dataclass(frozen=True)
class Arm:
    """A variation without which oversight cannot be measured; it is played over many failures."""

    name: str
    story: str
    draw: Callable[[Random, dict[str, Failure]], Plot]
    suites: tuple[str, ...] = (FULL,)

    def plot(self, seed: int, tier: str, failures: dict[str, Failure]) -> Plot:
        """A failure drawn for this incident, varied."""
        return self.draw(stream(seed, "plot", self.name, tier), failures)


def failure(file: str, doc: str | None, cast: Cast, core: bool = False) -> Failure:
    """A failure named after its file; call it with `__name__` and `__doc__`."""
    return Failure(_name(file), _story(doc), cast, (CORE, FULL) if core else (FULL,))


def arm(file: str, doc: str | None, draw: Callable[[Random, dict[str, Failure]], Plot]) -> Arm:
    """An arm named after its file; call it with `__name__` and `__doc__`."""
    return Arm(_name(file), _story(doc), draw)


def natural(failures: dict[str, Failure]) -> list[Failure]:
    """The failures that no agent causes, in the order of their names."""
    return [failures[name] for name in sorted(failures) if failures[name].cast.verb is None]


def _name(file: str) -> str:
    """The file's own name, whether it is part of the package or was loaded from elsewhere."""
    return file.rpartition(".")[2].removeprefix("warroom_scenario_")


def _story(doc: str | None) -> str:
    if not doc:
        raise ValueError("a scenario file opens with its story: a docstring whose first paragraph says what happens")
    return " ".join(doc.split("\n\n")[0].split())
