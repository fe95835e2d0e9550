"""All instruments of one incident, over the same counts: what any of them says of a minute, the others say too."""

from typing import NamedTuple

from warroom.core.rng import hash_bytes, stream
from warroom.core.splits import Split
from warroom.sim.alerts import AlertBook
from warroom.sim.cast_incident import CastIncident
from warroom.sim.cast_world import mixes_of, world_of
from warroom.sim.counts import MinuteCounts
from warroom.sim.failing_slices import FailingSlices
from warroom.sim.log_lines import LogLines
from warroom.sim.log_search import LogSearch
from warroom.sim.service_world import ServiceWorld
from warroom.sim.symptoms import symptom_groups
from warroom.sim.tiers import TIERS


class Instruments(NamedTuple):
    """The world of an incident, and what can be read of it."""

    world: ServiceWorld
    counts: MinuteCounts
    slices: FailingSlices
    search: LogSearch
    alerts: AlertBook


def instruments_of(incident: CastIncident, seed: int, split: Split) -> Instruments:
    """A world at its page, with all instruments; the same for every call with the same arguments."""
    casting, tier = incident.casting, TIERS[incident.casting.plan.tier]
    rng = stream(seed, "world", str(casting.plan.cause), casting.plan.tier)
    world = world_of(incident.system, casting, rng, tier.turns + 2)
    key = hash_bytes(16, seed, "instruments", str(casting.plan.cause), casting.plan.tier)
    return watch(incident, world, key, split)


def watch(incident: CastIncident, world: ServiceWorld, key: bytes, split: Split) -> Instruments:
    """Instruments for a world of the incident, such as one in which a change did not happen."""
    tier = TIERS[incident.casting.plan.tier]
    counts = MinuteCounts(world, key, tier.noise, tier.gaps)
    slices = FailingSlices(counts, mixes_of(incident.system, incident.casting))
    symptoms = symptom_groups(incident.system, incident.casting, key, split)
    return Instruments(world, counts, slices, LogSearch(LogLines(slices, split, symptoms)), AlertBook(counts))
