"""One incident of log triage, drawn whole before its first minute: the system, what breaks, and how services write."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from warroom.core.scenario import by_tier
from warroom.core.splits import Split
from warroom.envs.logs.scenario import OutageScenario
from warroom.sim import incident as world_incident
from warroom.sim.incident import HISTORY
from warroom.sim.mechanism import ABUSER, PROVIDER, Fault
from warroom.sim.topology import ServiceSystem

OWNERS = {"gateway": "sre", "service": "backend", "db": "dba", "cache": "sre", "queue": "sre"}
"""Who usually owns a kind of service."""
OTHER_OWNER = 0.25
"""Share of services that another team owns, so that the catalogue has to be read."""
SECURITY, OUTSIDE = "security", "sre"
"""Who is paged for abuse, and for what a provider outside the system does wrong, whoever owns the service."""
KNOT = 5
"""Minutes between the points through which the wandering of healthy durations is drawn."""


@dataclass(frozen=True, slots=True)
class LogsTierConfig:
    """The one dial of difficulty."""

    noise: float
    """Share of the lines on a page that have nothing to do with the incident."""
    imitation_share: float
    """Share of those that look like trouble."""
    deep_share: float
    """Share of the related lines that are from the whole system; the others are what users notice at the gateway."""
    signature_rate: float
    """Probability per minute that the root writes its own signature, once it may."""
    reports_own_errors: float
    """Probability that the root logs its own failures as errors."""
    unnamed_callee_share: float
    """Share of complaints about a callee that do not name it."""
    missing: float
    """Probability that a service's logs do not arrive."""
    behind: float
    """Probability that a service's logs arrive `BEHIND` minutes late."""
    spread: float
    """Standard deviation of the logarithm of durations of single requests."""
    latency_jitter: float
    """The same of the medians of healthy services, from window to window."""
    clock_skew: int
    """Seconds by which a clock may be off, at most."""
    sampled_requests: int
    """User requests a minute whose lines the log pipeline keeps, about."""
    decoys: int
    """Steady sources of errors, drifting background jobs, false signatures and ordinary builds: so many of each."""
    drift_severity: float
    """What severities of drifts are multiplied by."""


TIER_CONFIGS = by_tier(
    LogsTierConfig,
    noise=(0.2, 0.4, 0.6),
    imitation_share=(0.35, 0.4, 0.55),
    deep_share=(0.5, 0.5, 0.4),
    signature_rate=(0.2, 0.15, 0.1),
    reports_own_errors=(0.35, 0.2, 0.12),
    unnamed_callee_share=(0.5, 0.6, 0.7),
    missing=(0.0, 0.06, 0.12),
    behind=(0.0, 0.06, 0.1),
    spread=(0.35, 0.5, 0.6),
    latency_jitter=(0.06, 0.1, 0.14),
    clock_skew=(0, 0, 40),
    sampled_requests=(160, 120, 90),
    decoys=(1, 2, 3),
    drift_severity=(1.0, 0.9, 0.8),
)
BEHIND = 3
"""Minutes by which some services' logs arrive late."""
BEFORE = -8
"""The middle of the window "before"; its three minutes end before any trouble begins."""


class Drift(NamedTuple):
    """Background work of a service that gets slower; its callers do not notice it."""

    minute: int
    factor: float


class StartRecord(NamedTuple):
    """A build or a job that started."""

    minute: int
    service: int
    what: str
    """build or job."""
    number: int


class NoisyService(NamedTuple):
    """A service that writes errors about malformed requests of clients."""

    service: int
    since: int
    """Minute."""
    share: float
    """Of all lines of the system."""


class Chronic(NamedTuple):
    """Errors that a service writes every day."""

    service: int
    share: float
    """Of all lines of the system."""
    wording: int


@dataclass(frozen=True)
class LogsIncident:
    """Everything drawn. Two of one (scenario, tier, seed) are equal, wherever they are drawn."""

    key: bytes
    """Seeds the observation noise."""
    scenario: OutageScenario
    tier: str
    tier_config: LogsTierConfig
    wording: Split
    base: world_incident.Incident
    """What the world is built from."""
    owners: tuple[str, ...]
    sampling_rate: float
    """Share of lines that the log pipeline keeps."""
    failure_log_levels: tuple[str, ...]
    """The level at which each service logs a failed call; empty: not at all."""
    timed: tuple[bool, ...]
    """Whether each service logs durations."""
    missing: frozenset[int]
    behind: frozenset[int]
    """Services whose logs do not arrive, and those whose logs arrive late."""
    clock_skew: tuple[int, ...]
    """Seconds by which each service's clock is off."""
    reports_own_errors: bool
    """Whether the roots log their own failures as errors."""
    chronic: tuple[Chronic, ...]
    nuisance: tuple[float, ...]
    """Share of each service's lines that are warnings about nothing."""
    drifting: dict[int, Drift]
    decoys: tuple[tuple[str, int], ...]
    """(signature class, service): words about faults that are not there."""
    started: tuple[StartRecord, ...]
    """In order of time."""
    noisy_service: NoisyService | None
    provider_recovery_minute: int
    """Minute in which a provider outside comes back."""
    latency_jitter_knots: tuple[tuple[float, ...], ...]
    """Logarithm of the factor on the healthy durations of each service, at every `KNOT` minutes from -HISTORY on."""

    @property
    def system(self) -> ServiceSystem:
        """The services and their healthy operating point."""
        return self.base.system

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong; the first is the main root's."""
        return self.base.faults

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Where it is wrong."""
        return tuple(fault.target for fault in self.faults)

    @cached_property
    def teams(self) -> frozenset[str]:
        """Who has to be paged."""
        return frozenset(team_of(fault, self.owners) for fault in self.faults)

    @property
    def noise(self) -> float:
        """The share of unrelated lines that a page declares."""
        return max(self.tier_config.noise, self.scenario.min_noise) if self.faults else 1.0

    def latency_jitter(self, service: int, minute: int) -> float:
        """Logarithm of the factor on a service's healthy durations in a minute."""
        knots = self.latency_jitter_knots[service]
        k, rest = divmod(minute + HISTORY, KNOT)
        return knots[k] + (knots[k + 1] - knots[k]) * rest / KNOT


def team_of(fault: Fault, owners: tuple[str, ...]) -> str:
    """The team to page for a fault: the owner of its service, unless it comes from outside."""
    outside = {ABUSER: SECURITY, PROVIDER: OUTSIDE}
    return outside.get(fault.mechanism.origin) or owners[fault.target]
