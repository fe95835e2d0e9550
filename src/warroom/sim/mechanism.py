"""What a failure is made of: a mechanism that changes parameters of the world, and a fault, which is one use of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warroom.core.checks import check_callable, check_choice, check_items, check_range, check_type
from warroom.sim.service_topology import KINDS

if TYPE_CHECKING:
    from warroom.sim.topology import ServiceSystem
    from warroom.sim.world import World

SERVICE = frozenset({"service"})
DB = frozenset({"db"})
FIXES = ("restart", "rollback", "scale", "escalate", "flush-cache", "kill-query")
"""Every repair that an environment may offer."""
INTERNAL, PROVIDER, ABUSER = ORIGINS = ("internal", "provider", "abuser")
"""Where a failure comes from: the system itself, a provider outside, or someone who abuses it."""
_CHOICES = {"fix": FIXES, "origin": ORIGINS, "started_by": ("build", "job")}
"""The words that a field of a mechanism may hold; any but `origin` may also be empty."""
_CALLS = {
    "begin": ("world", "fault"),
    "end": ("world", "fault"),
    "step": ("world", "fault", "age"),
    "is_sufficient": ("world", "fault"),
    "fits": ("system", "service"),
    "failing_share": ("fault",),
}
"""What the functions of a mechanism are called with."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong in an incident: what, where, when and how badly."""

    mechanism: Mechanism
    target: int
    onset: int
    """Minute, relative to the page."""
    severity: float
    """0 to 1."""


def no_effect(world: World, fault: Fault) -> None:
    """A fault whose whole effect is in its steps, or that nothing has to undo."""


def no_step(world: World, fault: Fault, age: int) -> None:
    """A fault whose whole effect is in its beginning."""


def _anywhere(system: ServiceSystem, service: int) -> bool:
    return True


def _always(world: World, fault: Fault) -> bool:
    return True


def _no_share(fault: Fault) -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A way to break: what it does to the world, and which repair undoes it."""

    name: str
    kinds: frozenset[str]
    """Kinds of service that it can strike."""
    fix: str
    """The repair that undoes it, one of `FIXES`; empty when it passes by itself."""
    signature: str
    """Key into the environment's signatures: what the victim writes about itself, seldom."""
    begin: Callable[[World, Fault], None]
    """Applied at the onset."""
    end: Callable[[World, Fault], None]
    """Undoes the effect."""
    step: Callable[[World, Fault, int], None] = no_step
    """Applied each active minute with the minutes since the beginning."""
    is_sufficient: Callable[[World, Fault], bool] = _always
    """Whether the fix was applied amply (replicas for a scale)."""
    fits: Callable[[ServiceSystem, int], bool] = _anywhere
    """Which services of the right kind can carry it."""
    gradual: bool = False
    """Ramps over minutes, so it starts earlier before the page."""
    replica_factor: float = 1.0
    """Replicas that the fix needs, as a multiple of the healthy number."""
    origin: str = INTERNAL
    """Whose doing it is, one of `ORIGINS`."""
    started_by: str = ""
    """What services log as it begins: build or job; empty when nothing is started."""
    failing_share: Callable[[Fault], float] = _no_share
    """Share of requests that the victim itself fails, which it may log."""
    mutes_victim: bool = False
    """The victim does not log most of the requests that it fails."""

    def __post_init__(self) -> None:
        for field in ("name", "fix", "signature", "origin", "started_by"):
            check_type(f"{field} of a mechanism", getattr(self, field), str)
        check_items("kinds of a mechanism", self.kinds, frozenset, str)
        for kind in self.kinds:
            check_choice("kind of service", kind, KINDS)
        for field, allowed in _CHOICES.items():
            if getattr(self, field):
                check_choice(field, getattr(self, field), allowed)
        check_range("replica_factor of a mechanism", self.replica_factor, 1.0, 3.0)
        for field, parameters in _CALLS.items():
            check_callable(f"{field} of a mechanism", getattr(self, field), parameters)
