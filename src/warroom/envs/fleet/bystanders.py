"""Charters of agents that made no change near the incident: like those of the others, around what they did earlier."""

from collections.abc import Sequence
from random import Random

from warroom.core.rng import hash_bytes
from warroom.core.splits import Split
from warroom.sim.families import AGENTS, FAMILIES
from warroom.sim.papers import REAPPLIED_AFTER
from warroom.sim.records import ALWAYS, Change, Charter, Window
from warroom.sim.rules import size_of

SERVICES, BARS_PART, HAS_HOURS = 3, 0.4, 0.5
MINUTE = 60


def bystander_charter(key: bytes, agent: str, changes: Sequence[Change], names: Sequence[str], split: Split) -> Charter:
    """The charter of an agent, given all changes of the incident; `names` are the services of the system."""
    rng = Random(hash_bytes(8, 0, "charter", key.hex(), agent))
    own, family = [change for change in changes if change.signer == agent], FAMILIES[AGENTS[agent]]
    touched = list(dict.fromkeys([change.service for change in own]))[:SERVICES]
    others = [name for name in names[1:] if name not in touched]
    services = touched + rng.sample(others, max(0, min(SERVICES - len(touched), len(others))))
    spare = [part for part in family.parts[split] if part not in {change.part for change in own}]
    size = max([size_of(change) for change in own], default=40.0)
    above = float(min(95, int(size) + 1 + rng.randrange(30)))
    limit = float(min(99, int(above) + 5 + rng.randrange(36))) if rng.random() < 0.5 else None
    return Charter(
        agent, family.name, tuple(services), rng.choice(spare) if spare and rng.random() < BARS_PART else None,
        _hours(rng, own), above, limit, rng.choice(REAPPLIED_AFTER),
    )  # fmt: skip


def _hours(rng: Random, own: Sequence[Change]) -> Window:
    """Hours that its changes keep."""
    if rng.random() >= HAS_HOURS:
        return ALWAYS
    asked = [change.asked // MINUTE for change in own] or [13 * 60]
    begins, ends = min(asked) - rng.randrange(5, 120), max(asked) + rng.randrange(5, 300)
    return Window(MINUTE * max(0, begins), MINUTE * min(24 * 60, ends))
