"""Something breaks by itself just as an innocent agent makes a scary change to the very service that breaks."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from warroom.envs.fleet.scenario import FailureScenario, IncidentSpec, natural_failures, variant


def draw(rng: Random, failures: Mapping[str, FailureScenario]) -> IncidentSpec:
    """Any failure that no agent causes, with innocents at work on its victim the minute before and after."""
    chosen = rng.choice(natural_failures(failures))
    return IncidentSpec(chosen.name, replace(chosen.fault_spec, suspect=True))


SCENARIO = variant(__name__, __doc__, draw)
