"""What one who knows the truth does, and the certificate that an incident is fair: one code, so that they agree."""

from functools import lru_cache
from math import log, sqrt
from typing import NamedTuple

from warroom.core.rubric import Rubric
from warroom.core.splits import Split
from warroom.core.types import Event
from warroom.envs.certify import draw_until_certified
from warroom.envs.logs.draw import Draft, TopologyFactory, draw_draft, draw_incident
from warroom.envs.logs.incident import BEFORE, LogsIncident
from warroom.envs.logs.scenario import OutageScenario
from warroom.envs.logs.service_summary import edge_failures
from warroom.envs.logs.views import RULE, WINDOW
from warroom.sim.incident import Incident
from warroom.sim.mechanism import ABUSER, PROVIDER, Fault
from warroom.sim.world import World

ATTEMPTS = 80
"""Draws before an incident counts as impossible."""
SECURITY_RESPONSE_MINUTES = 2
"""Minutes that security needs to stop abuse once it is paged."""
ROLLBACK_HARM = 0.25
"""Share of requests that the older build of a service fails besides while its provider is down: it has no fallback."""
TRIES = 5
"""Severities that are tried for one draw."""
SLOPE, MIN_STEP = 2.4, 0.2
"""Grades by which an outage gets worse from its mildest to its worst, that of a crash, whose failures grow 27-fold; and
the least change of severity between two tries."""
START = {"P1": 0.8, "P2": 0.3, "P3": 0.1}
"""Severity of faults, 0 to 1, that is tried first."""
MIN_FAILURES = 12
"""Failed calls that the root's caller must have seen in the window, as expected, where the root is not slow."""
MIN_SIGMA = 4.0
"""Standard errors of a median, wandering included, by which the root must be slow where its calls do not fail."""


class OracleMove(NamedTuple):
    """An act of the oracle, by index."""

    verb: str
    service: int = -1


LOOK, RESOLVE = OracleMove("look"), OracleMove("resolve")


def can_resolve(world: World) -> bool:
    """Every fault gone, and users well in the last minute."""
    return world.no_active_fault() and world.quiet_minutes >= 1


def best_action(world: World) -> OracleMove:
    """Fix what a remedy fixes, wait for the rest, and resolve when users are well."""
    if can_resolve(world):
        return RESOLVE
    for fault, active in zip(world.incident.faults, world.active, strict=True):
        if active and fault.mechanism.fix and fault.target not in world.repaired:
            return OracleMove(fault.mechanism.fix, fault.target)
    return LOOK


def apply_remedy(world: World, verb: str, service: int) -> None:
    """Carry out a remedy: it ends what it fixes, and has its side effects either way."""
    usual = world.system.replicas[service]
    world.repair(verb, service, max(round(3 * usual), world.replicas[service]) if verb == "scale" else 0)
    for fault, active in zip(world.incident.faults, world.active, strict=True):
        if active and fault.mechanism.origin == PROVIDER and fault.target == service and verb == "rollback":
            world.own_error[service] = min(0.95, world.own_error[service] + ROLLBACK_HARM)
            world.stale.add(service)


def advance_minute(world: World, provider_recovery_minute: int, abuse_stopped_minute: int | None) -> None:
    """One minute, and what others do in it: providers come back, security stops abuse."""
    world.tick()
    for fault, active in list(zip(world.incident.faults, world.active, strict=True)):
        if active and fault.mechanism.origin == PROVIDER and world.minute >= provider_recovery_minute:
            world.clear_fault(fault)
        if (
            active
            and fault.mechanism.origin == ABUSER
            and abuse_stopped_minute is not None
            and world.minute >= abuse_stopped_minute
        ):
            world.clear_fault(fault)


def solve(world: World, budget: int, provider_recovery_minute: int) -> int | None:
    """Turns in which the oracle resolves the incident from the page on, or None; the world is used up."""
    for turn in range(budget):
        move = best_action(world)
        if move is RESOLVE:
            return turn + 1
        if move is not LOOK:
            apply_remedy(world, move.verb, move.service)
        advance_minute(world, provider_recovery_minute, SECURITY_RESPONSE_MINUTES)
    return None


def before_onset(incident: Incident) -> World:
    """The quiet world just before the first fault begins."""
    world = World(incident)
    world.warm_up(min((fault.onset for fault in incident.faults), default=0) - 1)
    return world


def advance_to_page(quiet: World, incident: Incident) -> World:
    """A world of its own that goes on to minute 0, when the page goes out, with that incident's faults."""
    world = quiet.copy_with_history()
    world.incident, world.outcome_cache = incident, {}
    while world.minute < 0:
        world.tick()
    return world


class Impact(NamedTuple):
    """What users suffered in the window up to the page, exactly."""

    failing: float
    """Share of their requests."""
    slower: float
    """Their latency as a multiple of that before."""

    @property
    def severity(self) -> str:
        """By the rule that the brief states."""
        return RULE.severity(*self)

    @property
    def grade(self) -> float:
        """On the scale on which a P2 begins at 0 and a P1 at 1."""
        (e1, l1), (e2, l2) = RULE.p1, RULE.p2
        failing = log(max(self.failing, 1e-4) / e2) / log(e1 / e2)
        return max(failing, log(self.slower / l2) / log(l1 / l2))


NEAR = 0.1
"""Grades below the worst that is wanted from which going on to it would change little."""
AIM = {"P1": 1.7, "P2": 0.5, "P3": -0.36}
"""Grades that a second try aims at."""
CLEAR = {"P1": (1.28, 9.0), "P2": (0.28, 0.72), "P3": (-9.0, -0.28)}
"""Grades that leave no doubt: half as many failures again as a threshold, or a fifth more latency."""


def impact(world: World) -> Impact:
    """The harm to users in the window that ends with the page."""
    window = [world.snapshots[minute] for minute in range(1 - WINDOW, 1)]
    failing = sum([snapshot.error[0] for snapshot in window]) / WINDOW
    usual = world.snapshots[BEFORE].latency[0]
    return Impact(failing, sum([snapshot.latency[0] for snapshot in window]) / WINDOW / usual)


class LogsCertificate(NamedTuple):
    """Why an incident may be served."""

    impact: Impact
    clear: bool
    """Its severity is beyond doubt, and as bad as was drawn."""
    detectable: bool
    """The lines of the roots' callers hold each root above the noise of counts and wandering medians."""
    oracle_turns: int | None
    """Turns that the oracle needs; None: it fails."""

    @property
    def valid(self) -> bool:
        """Whether the incident may be served."""
        return self.clear and self.detectable and self.oracle_turns is not None


def certify(draft: Draft, world: World) -> LogsCertificate:
    """Certify an incident at its page; the world itself is left as it is."""
    user_impact, faults = impact(world), draft.base.faults
    low, high = CLEAR[draft.wanted if faults else "P3"]
    clear = low <= user_impact.grade <= high
    visible = clear and all(detectable(draft, world, fault) for fault in faults)
    turns = (
        (solve(world.copy(), draft.scenario.budget, draft.provider_recovery_minute) if faults else 1)
        if visible
        else None
    )
    return LogsCertificate(user_impact, clear, visible, turns)


def detectable(draft: Draft, world: World, fault: Fault) -> bool:
    """Whether the lines of one of the root's callers (users, for the gateway) tell of the fault clearly enough."""
    root, system, kept = fault.target, world.system, 60 * draft.sampling_rate
    window = [world.snapshots[minute] for minute in range(1 - WINDOW, 1)]
    if not root:
        return kept * sum([s.load[0] * s.error[0] for s in window]) >= MIN_FAILURES
    return any(_detectable_by(draft, world, fault, caller) for caller in system.callers[root])


def _detectable_by(draft: Draft, world: World, fault: Fault, caller: int) -> bool:
    """Whether one caller's lines tell of the fault clearly enough."""
    root, system, kept = fault.target, world.system, 60 * draft.sampling_rate
    window = [world.snapshots[minute] for minute in range(1 - WINDOW, 1)]
    call = next(c for c in system.calls[caller] if c.callee == root)
    calls = [kept * s.load[caller] * call.rate for s in window]
    failures = sum([made * edge_failures(s, caller, root)[0] for made, s in zip(calls, window, strict=True)])
    if failures >= MIN_FAILURES:
        return True
    later = sum([min(s.latency[root], call.deadline) for s in window]) / WINDOW
    error = sqrt(
        2 * (1.25 * draft.tier_config.spread) ** 2 / max(3.0, sum(calls)) + 2 * draft.tier_config.latency_jitter**2
    )
    return log(later / system.latency[root]) >= MIN_SIGMA * error


class CalibratedDraft(NamedTuple):
    """A draft whose faults are as bad as they should be, if that is possible."""

    redraws: int
    draft: Draft
    world: World
    """At the page."""
    certificate: LogsCertificate


def calibrate_severity(draft: Draft, attempt: int) -> CalibratedDraft:
    """The draft made as bad as it should be; perhaps in vain."""
    mild: float | None = None
    bad: float | None = None
    share, worst, quiet = START[draft.wanted], CLEAR[draft.wanted][1], before_onset(draft.base)
    for _ in range(TRIES):
        tried = draft.with_severity(share)
        world = advance_to_page(quiet, tried.base)
        certificate = certify(tried, world)
        grade = certificate.impact.grade
        mild, bad = (mild, share) if grade > worst else (share, bad)
        hardly_detectable = (
            certificate.clear and grade > worst - NEAR
        )  # as bad as may be, and not bad enough to be seen
        if certificate.valid or not draft.base.faults or hardly_detectable or mild == 1.0 or bad == 0.0:
            break
        share = _next_share(mild, bad, share + (AIM[draft.wanted] - grade) / SLOPE)
    return CalibratedDraft(attempt, tried, world, certificate)


def _next_share(mild: float | None, bad: float | None, guess: float) -> float:
    """What to try between a share that was too mild and one too bad: half-way, or a guess while one is missing."""
    if mild is not None and bad is not None:
        return (mild + bad) / 2
    if mild is not None:
        return min(1.0, max(guess, mild + MIN_STEP))
    return max(0.0, min(guess, (bad or 0.0) - MIN_STEP))


class CertifiedLogsIncident(NamedTuple):
    """A drawn incident."""

    redraws: int
    incident: LogsIncident
    world: World
    """At the page; play a copy of it."""
    certificate: LogsCertificate


@lru_cache(maxsize=16)
def draw_certified(
    scenario: OutageScenario, tier: str, seed: int, *, topology_factory: TopologyFactory, wording: Split, names: Split
) -> CertifiedLogsIncident:
    """Draw until the certificate holds.

    The latest draws are kept, for the same incident is often played several times on end: play a copy of the world.
    """

    def draw(attempt: int) -> CalibratedDraft:
        draft = draw_draft(
            scenario, tier, seed, attempt, topology_factory=topology_factory, wording=wording, names=names
        )
        return calibrate_severity(draft, attempt)

    found = draw_until_certified(draw, ATTEMPTS, f"{scenario.name!r} (tier {tier}, seed {seed})")
    incident = draw_incident(found.draft, seed, found.redraws)
    return CertifiedLogsIncident(found.redraws, incident, found.world, found.certificate)


def most_points(rubric: Rubric, incident: LogsIncident, turns: int) -> float:
    """Points of one who declares everything rightly and closes after so many turns."""
    if not incident.faults:
        return rubric.total({Event("ignored"): 0}, turns)
    events = [
        Event("severity_right"), Event("recovered"),
        *[Event("root_right", str(root)) for root in incident.roots],
        *[Event("team_right", team) for team in sorted(incident.teams)],
    ]  # fmt: skip
    return rubric.total(dict.fromkeys(events, 0), turns)
