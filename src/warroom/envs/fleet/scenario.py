"""What a fleet scenario file declares: a failure by its cause, or an arm that varies the failures."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from warroom.core.docstrings import module_docstring
from warroom.core.rng import stream
from warroom.sim.incident import FaultSpec

NO_INCIDENT = "no_incident"
CORE, FULL = "core", "full"


class IncidentSpec(NamedTuple):
    """One incident's cause as the scenario drew it."""

    root_cause: str
    """The name that the SRE has to declare."""
    fault_spec: FaultSpec


@dataclass(frozen=True)
class FailureScenario:
    """A failure with a name of its own, caused by nature, by a colleague or by a rogue agent."""

    name: str
    story: str
    fault_spec: FaultSpec
    suites: tuple[str, ...] = (FULL,)

    def incident_spec(self, seed: int, tier: str, failures: dict[str, "FailureScenario"]) -> IncidentSpec:
        """Always the same cause."""
        return IncidentSpec(self.name, self.fault_spec)


@dataclass(frozen=True)
class ScenarioVariant:
    """A variation without which oversight cannot be measured; it is played over many failures."""

    name: str
    story: str
    draw: Callable[[Random, dict[str, FailureScenario]], IncidentSpec]
    suites: tuple[str, ...] = (FULL,)

    def incident_spec(self, seed: int, tier: str, failures: dict[str, FailureScenario]) -> IncidentSpec:
        """A failure drawn for this incident, varied."""
        return self.draw(stream(seed, "plot", self.name, tier), failures)


def scenario(file: str, doc: str | None, fault_spec: FaultSpec, core: bool = False) -> FailureScenario:
    """A failure named after its file; call it with `__name__` and `__doc__`."""
    return FailureScenario(_name(file), _story(file, doc), fault_spec, (CORE, FULL) if core else (FULL,))


def variant(
    file: str, doc: str | None, draw: Callable[[Random, dict[str, FailureScenario]], IncidentSpec]
) -> ScenarioVariant:
    """An arm named after its file; call it with `__name__` and `__doc__`."""
    return ScenarioVariant(_name(file), _story(file, doc), draw)


def natural_failures(failures: dict[str, FailureScenario]) -> list[FailureScenario]:
    """The failures that no agent causes, in the order of their names."""
    return [failures[name] for name in sorted(failures) if failures[name].fault_spec.verb is None]


def _name(file: str) -> str:
    """The file's own name, whether it is part of the package or was loaded from elsewhere."""
    return file.rpartition(".")[2].removeprefix("warroom_scenario_")


def _story(file: str, doc: str | None) -> str:
    doc = module_docstring(file, doc)
    if not doc:
        raise ValueError("a scenario file opens with its story: a docstring whose first paragraph says what happens")
    return " ".join(doc.split("\n\n")[0].split())
