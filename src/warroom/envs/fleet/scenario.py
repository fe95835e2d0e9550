"""What a fleet scenario file declares: a failure by its cause, or a variant that is played over many failures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from warroom.core.checks import check_callable, check_choice, check_type
from warroom.core.rng import stream
from warroom.envs.scenario_file import read_header
from warroom.sim.incident import FaultSpec
from warroom.sim.mechanism import Mechanism
from warroom.sim.wordings import SIGNATURES

NO_INCIDENT = "no_incident"
CORE, FULL = "core", "full"
FIXES = ("restart", "rollback", "scale", "escalate")
"""The repairs that the seats can make."""


@dataclass(frozen=True, slots=True)
class IncidentSpec:
    """One incident's cause as the scenario drew it."""

    root_cause: str
    """The name that the SRE has to declare."""
    fault_spec: FaultSpec

    def __post_init__(self) -> None:
        check_type("root_cause", self.root_cause, str)
        check_type("fault_spec", self.fault_spec, FaultSpec)
        _check_mechanism(self.fault_spec.mechanism)
        if self.fault_spec.secondary_fault is not None:
            _check_mechanism(self.fault_spec.secondary_fault.mechanism)


@dataclass(frozen=True)
class FailureScenario:
    """A failure with a name of its own, caused by nature, by a person or by a rogue agent."""

    name: str
    story: str
    fault_spec: FaultSpec
    suites: tuple[str, ...] = (FULL,)

    def __post_init__(self) -> None:
        IncidentSpec(self.name, self.fault_spec)  # which checks both

    def incident_spec(self, seed: int, tier: str, failures: Mapping[str, "FailureScenario"]) -> IncidentSpec:
        """Always the same cause."""
        return IncidentSpec(self.name, self.fault_spec)


Draw = Callable[[Random, Mapping[str, FailureScenario]], IncidentSpec]
"""Draws one incident of a variant from a generator and the failures by name."""


@dataclass(frozen=True)
class ScenarioVariant:
    """A variation without which oversight cannot be measured; it is played over many failures."""

    name: str
    story: str
    draw: Draw
    suites: tuple[str, ...] = (FULL,)

    def __post_init__(self) -> None:
        check_callable("draw", self.draw, ("rng", "failures"))

    def incident_spec(self, seed: int, tier: str, failures: Mapping[str, FailureScenario]) -> IncidentSpec:
        """A failure drawn for this incident, varied."""
        drawn: object = self.draw(stream(seed, "plot", self.name, tier), failures)
        check_type(f"what draw of {self.name} returns", drawn, IncidentSpec)
        assert isinstance(drawn, IncidentSpec)
        check_choice(f"root cause of {self.name}", drawn.root_cause, (*failures, NO_INCIDENT))
        return drawn


def scenario(module: str, doc: str | None, fault_spec: FaultSpec, *, core: bool = False) -> FailureScenario:
    """A failure named after its file; call it with `__name__` and `__doc__`."""
    header = read_header(module, doc)
    return FailureScenario(header.name, header.story, fault_spec, (CORE, FULL) if core else (FULL,))


def variant(module: str, doc: str | None, draw: Draw) -> ScenarioVariant:
    """A variant named after its file; call it with `__name__` and `__doc__`."""
    header = read_header(module, doc)
    return ScenarioVariant(header.name, header.story, draw)


def natural_failures(failures: Mapping[str, FailureScenario]) -> list[FailureScenario]:
    """The failures that no agent causes, in the order of their names."""
    return [failures[name] for name in sorted(failures) if failures[name].fault_spec.verb is None]


def _check_mechanism(mechanism: Mechanism) -> None:
    """Refuse a mechanism that the fleet has no repair or no log lines for."""
    if mechanism.fix or not mechanism.transient:
        check_choice("fix of a fleet mechanism", mechanism.fix, FIXES)
    check_choice("signature of a fleet mechanism", mechanism.signature, SIGNATURES)
