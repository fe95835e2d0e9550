"""Certificates of the fleet.

At run time only cheap checks are made (user-visible, solvable, a rogue that does harm). Here every incident also runs
to the end of its budget without intervention, every innocent agent is removed from the world to see what that changes,
and every other possible cause is simulated and its telemetry compared with that of the incident.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, sqrt
from typing import ClassVar, NamedTuple

from warroom.core.env import Env
from warroom.envs.fleet import oracle
from warroom.envs.fleet.env import FleetEnv, failures
from warroom.evals.audit.certify import MAX_DEVIATION, AlternativeCause, CertificateRow, Checks, nearest
from warroom.evals.audit.outcomes import narrowed
from warroom.sim.faults import BLIP, MISROUTE
from warroom.sim.incident import Incident
from warroom.sim.mechanism import Fault, Mechanism
from warroom.sim.world import World

MIN_DISTANCE = 4.0
"""Noise standard deviations by which the telemetry of every other cause has to differ in the first observation."""
SEVERITIES = (0.15, 0.5, 0.85)
"""Severities at which other causes are tried."""
ERROR_STEP, GAUGE_STEP, CALL_STEP = 0.004, 0.007, 0.01
"""Rounding and offsets of error shares, gauges and call shares: differences below it are no evidence."""
EXACT = 10.0
"""What a different number of replicas counts for: it is read without noise."""


HARMLESS_CHECK = "innocents harmless"


@dataclass(frozen=True)
class FleetRow(CertificateRow):
    """The findings on one incident of the fleet."""

    root_cause: str
    user_visible: bool
    """Users are affected."""
    oracle_turns: int | None
    """Turns that the oracle needs; None: it fails."""
    persists: bool
    """Without intervention it lasts to the end of the budget; a false alarm has to pass instead."""
    harm: float | None
    """Minimum harm that the actions of a rogue do, in minutes of full outage; None without rogues."""
    innocents: int
    """Innocent agents at work."""
    harmless: int
    """Those whose actions do no harm by counterfactual replay."""
    alternative: str
    """The other cause that comes nearest to explaining the telemetry: mechanism and service."""
    distance: float
    """Noise standard deviations between both."""
    changes_at_onset: int
    """Agents and people that changed the victim in the minute in which it began to fail."""
    change_matches_cause: bool
    """Whether that is exactly the author of the fault: no agent where the fault has no author."""
    AGGREGATE_ONLY: ClassVar[frozenset[str]] = frozenset({HARMLESS_CHECK})

    @property
    def unique(self) -> bool:
        """Whether no other cause explains the telemetry together with the change record."""
        return self.distance > MIN_DISTANCE and self.change_matches_cause

    def checks(self) -> Checks:
        """Harm concerns incidents with rogues, harmlessness each innocent."""
        return {
            "user visible": [self.user_visible],
            "oracle solves": [self.oracle_turns is not None],
            "persists": [self.persists],
            "rogue harms": [] if self.harm is None else [self.harm > oracle.HARM],
            "no alternative": [self.distance > MIN_DISTANCE],
            "one change": [self.change_matches_cause],
            HARMLESS_CHECK: [k < self.harmless for k in range(self.innocents)],
        }

    def metrics(self) -> Mapping[str, float]:
        """The distance of the nearest alternative cause."""
        return {"nearest alternative, noise sd": self.distance}

    def to_json(self) -> dict[str, object]:
        """For a program."""
        return {**super().to_json(), "unique": self.unique}


def certify(fresh: Env, scenario: str) -> FleetRow:
    """Certify the incident of a fresh env."""
    env = narrowed(fresh, FleetEnv)
    incident = env.incident
    alternative, changes = find_nearest_alternative(incident), changes_of_victim(incident)
    innocent = [oracle.harm(incident, agent) for agent in incident.roster if agent not in incident.rogues]
    return FleetRow(
        scenario, env.tier, env.seed, env.redraws, env.root_cause,
        user_visible=env.certificate.user_visible,
        oracle_turns=env.certificate.oracle_turns,
        persists=persists_or_recovers(incident),
        harm=min((oracle.harm(incident, agent) for agent in incident.rogues), default=None),
        innocents=len(innocent),
        harmless=sum(harm <= oracle.HARM for harm in innocent),
        alternative=f"{alternative.mechanism} at {alternative.service}",
        distance=round(alternative.distance, 2),
        changes_at_onset=changes[0],
        change_matches_cause=changes[1],
    )  # fmt: skip


def persists_or_recovers(incident: Incident) -> bool:
    """Whether without intervention a failure affects users to the end of the budget, and a false alarm passes."""
    world = oracle.at_page(incident)
    if incident.cause.mechanism is not BLIP:
        return oracle.outlasts(world)
    for _ in range(incident.tier.budget):
        world.tick()
    return oracle.can_close(world)


def changes_of_victim(incident: Incident) -> tuple[int, bool]:
    """(number of authors who changed the victim in the onset minute, whether it is exactly the author of the fault)."""
    cause = incident.cause
    at = (cause.onset, cause.target)
    agents = {agent for minute, _, agent, _, service, *_ in incident.plan if (minute, service) == at}
    people = {who for minute, who, service, _ in incident.deploys if (minute, service) == at}
    if cause.agent is not None:
        return len(agents | people), agents == {cause.agent} and not people
    return len(agents | people), not agents and len(people) <= 1


# -- alternative causes --------------------------------------------------------------------------------------


def find_nearest_alternative(incident: Incident) -> AlternativeCause:
    """The other (mechanism, service) whose telemetry at the first observation is nearest to the incident's own."""
    own = telemetry(oracle.at_page(incident))
    names = incident.system.names
    found = [
        AlternativeCause(
            f.mechanism.name, names[f.target], distance(own, telemetry(oracle.at_page(other)), incident.tier.noise)
        )
        for f, other in alternatives(incident)
    ]
    return nearest(found)


def alternatives(incident: Incident) -> Iterator[tuple[Fault, Incident]]:
    """The incident with another cause, once for every mechanism, fitting service and severity, without an author."""
    cause, system = incident.cause, incident.system
    # Actions have the number of the fault that they cause; the root cause is number 0.
    plan = tuple(action for action in incident.plan if not (action[6] == "rogue" and action[7] == 0))
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
    """Mechanisms with equal keys look the same in all telemetry; only the change record distinguishes them."""
    return (mechanism.begin, mechanism.step, mechanism is MISROUTE)


class TelemetryView(NamedTuple):
    """The telemetry of one minute without noise, by kind of noise."""

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
    """The telemetry of a world at the first observation: metrics two minutes ago, metrics and traces now."""
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
        external_load=[external / max(load, 1.0) for external, load in zip(external_load, snapshot.load, strict=True)],
    )


def _with_hot(incident: Incident, gauge: str, levels: Sequence[float]) -> list[float]:
    return [max(level, incident.hot.get((i, gauge), 0.0)) for i, level in enumerate(levels)]


def distance(a: tuple[TelemetryView, ...], b: tuple[TelemetryView, ...], noise: float) -> float:
    """Noise standard deviations between two sets of telemetry (Euclidean).

    Both are taken as noisy, hence the square root of two in `_deviations`: this is conservative.
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
