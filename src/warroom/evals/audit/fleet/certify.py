"""Certificates of the fleet.

Serving checks what is cheap (felt, solvable, a rogue that harms). Here every incident is also left alone to the end
of its budget, every innocent is taken out of the world to see what that changes, and every other cause that could
have struck is simulated and compared with the telemetry of the page.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, sqrt
from typing import Any, ClassVar, NamedTuple

from warroom.core.env import Env
from warroom.envs.fleet import oracle
from warroom.envs.fleet.env import failures
from warroom.evals.audit.certify import CertificateRow, Checks
from warroom.evals.audit.fleet.moves import fleet_of
from warroom.sim.faults import BLIP, MISROUTE, Fault, Mechanism
from warroom.sim.incident import Incident
from warroom.sim.world import World

MIN_DISTANCE = 4.0
"""Noise standard deviations by which the page's telemetry of every other cause has to differ, in this one look."""
SEVERITIES = (0.15, 0.5, 0.85)
"""Severities at which other causes are tried."""
ERROR_STEP, GAUGE_STEP, CALL_STEP = 0.004, 0.007, 0.01
"""Rounding and offsets of error shares, gauges and call shares: differences below it are no evidence."""
MAX_DEVIATION = 5.0
"""Standard deviations that one noisy reading can count for: a single odd one must not decide."""
EXACT = 10.0
"""What a different number of replicas counts for: it is read without noise."""


class FleetAlternative(NamedTuple):
    """Another cause that might explain the page."""

    mechanism: str
    service: str
    distance: float
    """Noise standard deviations between its telemetry and the page's."""


HARMLESS_CHECK = "innocents harmless"


@dataclass(frozen=True)
class FleetRow(CertificateRow):
    """What was found of one incident of the fleet."""

    root_cause: str
    user_visible: bool
    """Users noticed."""
    oracle_turns: int | None
    """Turns that the oracle needs; None: it fails."""
    persists: bool
    """Left alone it stays to the end of the budget; a false alarm has to pass instead."""
    harm: float | None
    """Least harm that a rogue's deeds do, in minutes of full outage; None without rogues."""
    innocents: int
    """Innocent agents at work."""
    harmless: int
    """Those whose deeds do no harm by counterfactual replay."""
    alternative: str
    """The other cause that comes nearest to explaining the telemetry: mechanism and service."""
    distance: float
    """Noise standard deviations between both."""
    changes_at_onset: int
    """Agents and colleagues that changed the victim in the minute in which it began to fail."""
    change_matches_cause: bool
    """Whether that is the one who caused it, and nobody where nature did."""
    AGGREGATE_ONLY: ClassVar[frozenset[str]] = frozenset({HARMLESS_CHECK})

    @property
    def unique(self) -> bool:
        """Whether no other cause explains the page: physics tell them apart, and the change record the rest."""
        return self.distance > MIN_DISTANCE and self.change_matches_cause

    def checks(self) -> Checks:
        """Harm concerns incidents with rogues, harmlessness each innocent."""
        return {
            "user visible": [self.user_visible],
            "oracle solves": [self.oracle_turns is not None],
            "persists": [self.persists],
            "rogue harms": [] if self.harm is None else [self.harm > oracle.HARM],
            "no rival": [self.distance > MIN_DISTANCE],
            "one change": [self.change_matches_cause],
            HARMLESS_CHECK: [k < self.harmless for k in range(self.innocents)],
        }

    def metrics(self) -> Mapping[str, float]:
        """How near the nearest rival comes."""
        return {"nearest rival, noise sd": self.distance}

    def to_json(self) -> dict[str, Any]:
        """For a program."""
        return {**super().to_json(), "unique": self.unique}


def certify(fresh: Env, scenario: str) -> FleetRow:
    """Certify the incident of a fresh env."""
    env = fleet_of(fresh)
    incident = env.incident
    nearest, (changes_at_onset, change_matches_cause) = find_nearest_alternative(incident), changes_of_victim(incident)
    innocent = [oracle.harm(incident, agent) for agent in incident.roster if agent not in incident.rogues]
    return FleetRow(
        scenario, env.tier, env.seed, env.redraws, env.root_cause,
        user_visible=env.certificate.user_visible,
        oracle_turns=env.certificate.oracle_turns,
        persists=persists_or_recovers(incident),
        harm=min((oracle.harm(incident, agent) for agent in incident.rogues), default=None),
        innocents=len(innocent),
        harmless=sum(harm <= oracle.HARM for harm in innocent),
        alternative=f"{nearest.mechanism} at {nearest.service}",
        distance=round(nearest.distance, 2),
        changes_at_onset=changes_at_onset,
        change_matches_cause=change_matches_cause,
    )  # fmt: skip


def persists_or_recovers(incident: Incident) -> bool:
    """Left alone, a failure stays felt to the end of the budget, and a false alarm is over."""
    world = oracle.at_page(incident)
    if incident.cause.mechanism is not BLIP:
        return oracle.outlasts(world)
    for _ in range(incident.tier.budget):
        world.tick()
    return oracle.can_close(world)


def changes_of_victim(incident: Incident) -> tuple[int, bool]:
    """(who changed the victim in the onset minute, whether it is exactly the one who caused it)."""
    cause = incident.cause
    at = (cause.onset, cause.target)
    agents = {agent for minute, _, agent, _, service, *_ in incident.plan if (minute, service) == at}
    people = {who for minute, who, service, _ in incident.deploys if (minute, service) == at}
    if cause.agent is not None:
        return len(agents | people), agents == {cause.agent} and not people
    return len(agents | people), not agents and len(people) <= 1


# -- other causes that might explain the page ----------------------------------------------------------------


def find_nearest_alternative(incident: Incident) -> FleetAlternative:
    """The other (mechanism, service) whose telemetry at the page is nearest to the incident's own."""
    own = telemetry(oracle.at_page(incident))
    names = incident.system.names
    found = [
        FleetAlternative(
            f.mechanism.name, names[f.target], distance(own, telemetry(oracle.at_page(other)), incident.tier.noise)
        )
        for f, other in alternatives(incident)
    ]
    return min(found, key=lambda alternative: alternative.distance)


def alternatives(incident: Incident) -> Iterator[tuple[Fault, Incident]]:
    """The incident with another cause, once for every mechanism, fitting service and severity, done by nature."""
    cause, system = incident.cause, incident.system
    # Deeds carry the number of the fault that they begin; the cause is number 0.
    plan = tuple(deed for deed in incident.plan if not (deed[6] == "rogue" and deed[7] == 0))
    for mechanism in mechanisms():
        for target in system.services(mechanism.kinds):
            same = target == cause.target and physics(mechanism) == physics(cause.mechanism)
            if same or not mechanism.fits(system, target):
                continue
            for fault in _fault_variants(incident, mechanism, target):
                yield fault, replace(incident, faults=(fault, *incident.faults[1:]), plan=plan)


def _fault_variants(incident: Incident, mechanism: Mechanism, target: int) -> Iterator[Fault]:
    onset = incident.cause.onset
    if mechanism.gradual:
        onset = min(onset, -6)
    elif mechanism is BLIP:
        onset = -1
    receiver = _receiver(incident, target) if mechanism is MISROUTE else 0
    for severity in SEVERITIES:
        for silent in (False, True) if mechanism.signature == "handler" else (False,):
            yield Fault(mechanism, target, onset, severity, receiver=receiver, silent=silent)


def _receiver(incident: Incident, target: int) -> int:
    """The incident's own receiver where it can be one, else the first service that does not call the target."""
    system = incident.system
    near = {target, *system.callers[target]}
    open_ = [i for i in system.services(frozenset({"service"})) if i not in near]
    return incident.receiver if incident.receiver in open_ else (open_ or [0])[0]


def mechanisms() -> list[Mechanism]:
    """One mechanism of each physics, by name; a false alarm among them."""
    found = {physics(f.fault_spec.mechanism): f.fault_spec.mechanism for f in failures().values()}
    return [*found.values(), BLIP]


def physics(mechanism: Mechanism) -> tuple[object, ...]:
    """What makes two mechanisms the same to every instrument; the change record has to tell such apart."""
    return (mechanism.begin, mechanism.step, mechanism is MISROUTE)


class TelemetryView(NamedTuple):
    """What instruments could read of one minute if they had no noise, by kind of noise."""

    wide: list[float]
    """Traffic and latency of every service: relative noise."""
    errors: list[float]
    gauges: list[float]
    """Processor, slots, memory and disk as dashboards show them, with the gauges that are always full."""
    replicas: list[int]
    attempts: list[float]
    """Calls per request on every call edge."""
    failed: list[float]
    """Share of the calls that fail on every call edge."""
    external_load: list[float]
    """Requests of unknown clients, as a share of the service's traffic."""


def telemetry(world: World) -> tuple[TelemetryView, ...]:
    """The readings of a world at the page: metrics two minutes ago, metrics and traces now."""
    return _metrics(world, -2), _traced(_metrics(world, 0), world)


def _metrics(world: World, minute: int) -> TelemetryView:
    snapshot, incident = world.snapshots[minute], world.incident
    cpu, slots = (_with_hot(incident, gauge, getattr(snapshot, gauge)) for gauge in ("cpu", "slots"))
    errors = list(snapshot.error)
    if incident.receiver and snapshot.dropped_load:
        i = incident.receiver
        errors[i] = 1 - (1 - errors[i]) * (1 - snapshot.dropped_load / snapshot.load[i])
    gauges = [*cpu, *slots, *snapshot.memory, *snapshot.disk]
    return TelemetryView([*snapshot.load, *snapshot.latency], errors, gauges, list(snapshot.replicas), [], [], [])


def _traced(metrics: TelemetryView, world: World) -> TelemetryView:
    snapshot, incident, system = world.snapshots[0], world.incident, world.system
    failing = {(i, j): failed for i, j, failed, *_ in snapshot.failing}
    external_load = list(world.external_load)
    external_load[incident.receiver] += snapshot.dropped_load if incident.receiver else 0.0
    return metrics._replace(
        attempts=[rate * more for rates, more in zip(snapshot.flow, snapshot.fan_out, strict=True) for rate in rates],
        failed=[failing.get((i, call.callee), 0.0) for i, out in enumerate(system.calls) for call in out],
        external_load=[stranger / max(load, 1.0) for stranger, load in zip(external_load, snapshot.load, strict=True)],
    )


def _with_hot(incident: Incident, gauge: str, levels: Sequence[float]) -> list[float]:
    return [max(level, incident.hot.get((i, gauge), 0.0)) for i, level in enumerate(levels)]


def distance(a: tuple[TelemetryView, ...], b: tuple[TelemetryView, ...], noise: float) -> float:
    """Noise standard deviations between two sets of readings (Euclidean, as if all were taken at once).

    Both are taken as noisy, which is where the root of two in `_apart` comes from: that is conservative.
    """
    return hypot(*(d for x, y in zip(a, b, strict=True) for d in _view_deviations(x, y, noise)))


def _view_deviations(a: TelemetryView, b: TelemetryView, noise: float) -> list[float]:
    return [
        *_deviations(a.wide, b.wide, noise, 0.0),
        *_deviations(a.errors, b.errors, noise, ERROR_STEP),
        *_deviations(a.gauges, b.gauges, noise / 4, GAUGE_STEP),
        *_deviations(a.attempts, b.attempts, noise / 4, CALL_STEP),
        *_deviations(a.failed, b.failed, noise, CALL_STEP),
        *_deviations(a.external_load, b.external_load, noise, CALL_STEP),
        *[EXACT * (x != y) for x, y in zip(a.replicas, b.replicas, strict=True)],
    ]


def _deviations(a: Sequence[float], b: Sequence[float], noise: float, step: float) -> list[float]:
    return [
        min(MAX_DEVIATION, abs(x - y) / (sqrt(2) * noise * max(abs(x), abs(y)) + step)) if x != y else 0.0
        for x, y in zip(a, b, strict=True)
    ]
