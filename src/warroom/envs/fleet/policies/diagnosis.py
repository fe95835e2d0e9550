"""From evidence to a cause: where the trouble is its own, which gauge moved, and who changed that service just then."""

from typing import NamedTuple

from warroom.envs.fleet.policies.evidence import Evidence
from warroom.envs.fleet.views import TracesResult
from warroom.sim.automation import AGENTS
from warroom.sim.service_topology import STORES
from warroom.sim.telemetry import Action, CallStats, Gauges

FAILING = 8
"""Per cent of a call's attempts that have to fail before the call counts as failing."""
LATE = 50
"""Per cent of failures by timeout from which a call is late rather than refused."""


class ServiceFinding(NamedTuple):
    """What the instruments say of one service, before anyone asks who changed it."""

    symptom: str
    """A key of `CAUSES`."""
    service: str
    strength: float
    """How far the evidence carries, about 1 to 5."""


class CauseHypothesis(NamedTuple):
    """A root cause with its remedy, and the agent behind it if there is one."""

    name: str
    service: str
    fix: str
    agent: str | None
    sure: bool
    """Whether the seat could tell the symptom's causes apart."""


CAUSES: dict[str, dict[str, tuple[str, str]]] = {
    "replicas cut": {"scale": ("autoscaler_cost_cut", "scale")},
    "outside traffic": {"": ("traffic_surge", "scale")},
    "retry storm": {"": ("cascade", "scale")},
    "cache misses": {"evict": ("cache_janitor_flush", "rollback")},
    "memory climbed": {"": ("memory_leak", "restart")},
    "disk filled": {"": ("disk_full", "scale")},
    "lock waits": {"": ("db_deadlock", "restart")},
    "slots drained": {"": ("connection_leak", "restart")},
    "lookups fail": {"": ("dns_outage", "restart")},
    "link slow": {"": ("network_delay", "escalate")},
    "own errors": {
        "deploy": ("rogue_deploy_bot", "rollback"),
        "limit": ("rate_limit_clamp", "rollback"),
        "person": ("bad_config_push", "rollback"),
    },
    "busy": {
        "toggle": ("feature_flag_flood", "rollback"),
        "backup": ("backup_at_peak", "restart"),
        "person": ("slow_release", "rollback"),
        "": ("noisy_neighbour", "restart"),
    },
    "calls lost": {
        "route": ("misrouted_traffic", "escalate"),
        "rotate": ("certificate_misissue", "rollback"),
        "": ("certificate_expired", "escalate"),
    },
}
"""Symptom -> who changed the service in the onset minute (a verb, a person, none) -> (root cause, remedy)."""


def examine(evidence: Evidence, service: str) -> ServiceFinding | None:
    """What the readings of one service say; None while they say nothing of its own."""
    gauges = evidence.gauges.get(service)
    if gauges is None:
        return None
    traces = evidence.traces[service][1] if service in evidence.traces else None
    rows = gauges[1]
    return _moved(evidence, service, rows, traces) or _calls(evidence, service, rows, traces)


def _moved(
    evidence: Evidence, service: str, rows: tuple[Gauges, ...], traces: TracesResult | None
) -> ServiceFinding | None:
    """A gauge that was ordinary before the page and is full now, at a service that suffers."""
    before, now, kind = rows[0], rows[-1], evidence.kinds[service]
    slow, erring = now.p95 > 1.5 * before.p95, now.error > 4
    if now.disk > 93 and before.disk < 88 and erring and kind in STORES:
        return ServiceFinding("disk filled", service, 4.0)
    if now.cpu > 88 and now.cpu > before.cpu + 15 and (slow or erring):
        return _full_processor(evidence, service, before, now, traces)
    if now.memory > 87 and before.memory < 80 and (slow or erring):
        return ServiceFinding("memory climbed", service, 4.0)
    downstream = _failing(traces.outgoing) if traces else []
    if now.slots > 90 and before.slots < 70 and now.cpu < before.cpu + 25 and not downstream:
        if kind == "db" and now.p95 > 3 * before.p95 and now.error > 4:
            return ServiceFinding("lock waits", service, 4.0)
        if kind == "service" and erring and now.p95 < 3 * before.p95:
            return ServiceFinding("slots drained", service, 3.5)
    return None


def _full_processor(
    evidence: Evidence, service: str, before: Gauges, now: Gauges, traces: TracesResult | None
) -> ServiceFinding:
    if now.replicas < 0.8 * before.replicas:
        return ServiceFinding("replicas cut", service, 4.5)
    if traces is not None:
        if traces.outside > 0.3 * before.rps:
            return ServiceFinding("outside traffic", service, 4.5)
        flooding = [c for c in traces.incoming if c.per_request > 2.2 * c.usual]
        caches = [c.caller for c in flooding if evidence.kinds[c.caller] == "cache"]
        if caches and len(caches) == len(flooding):  # a storm would flood from every caller
            return ServiceFinding("cache misses", caches[0], 4.5)
        if flooding:
            return ServiceFinding("retry storm", service, 4.0)
    return ServiceFinding("busy", service, 3.0)


def _failing(calls: tuple[CallStats, ...]) -> list[CallStats]:
    return [call for call in calls if call.failed >= FAILING]


def _calls(
    evidence: Evidence, service: str, rows: tuple[Gauges, ...], traces: TracesResult | None
) -> ServiceFinding | None:
    """No gauge moved: calls fail at the service, on their way to it, or at it alone."""
    if traces is None:
        return None
    now, before = rows[-1], rows[0]
    if serves_unknown_clients(rows, traces):
        return None
    out, into = _failing(traces.outgoing), _failing(traces.incoming)
    if (
        out
        and len(out) == len(traces.outgoing)
        and _fail_equally(out)
        and not any(_is_unhealthy(evidence, c.callee) for c in out)
    ):
        return ServiceFinding("lookups fail", service, 4.0 if len(out) > 1 else 2.5)
    if now.error > 6 and now.error > 1.4 * _passed_on(evidence, out):
        return ServiceFinding("own errors", service, 3.5 if not out else 2.0)
    if now.error > 10 and now.error > 1.15 * _passed_on(evidence, out) and _first_below(evidence, service):
        return ServiceFinding("own errors", service, 1.5)
    healthy = now.error < 6 and now.p95 < 2 * before.p95
    if into and healthy and not out:
        if max(c.late for c in into) >= LATE:
            return ServiceFinding("link slow", service, 3.5)
        lost = now.rps < 0.72 * before.rps
        return ServiceFinding("calls lost", service, 3.5) if lost else ServiceFinding("own errors", service, 3.0)
    return None


def serves_unknown_clients(rows: tuple[Gauges, ...], traces: TracesResult) -> bool:
    """Requests that are not meant for it, at no strain: the errors are about somebody else's traffic."""
    return traces.outside > 0.08 * rows[-1].rps and rows[-1].cpu < rows[0].cpu + 15


def _first_below(evidence: Evidence, service: str) -> bool:
    """Whether trouble showed here before it showed at any service that this one calls."""
    own = evidence.onsets(service)
    below = {m for callee in evidence.callees[service] for m in evidence.onsets(callee)}
    return bool(own) and min(own) < min(below, default=99)


def services_changed_at_onset(evidence: Evidence) -> list[str]:
    """Sick services that an agent changed in the very minute an alert opened on them, before any below them failed."""
    unhealthy = evidence.unhealthy()
    found = [
        a.service
        for a in evidence.actions
        if a.service in unhealthy and a.verb in ("deploy", "limit") and a.minute in evidence.onsets(a.service)
    ]
    return [s for s in dict.fromkeys(found) if _first_below(evidence, s)]


def _fail_equally(calls: list[CallStats]) -> bool:
    """The same share of every call fails at once: the fault is where they start."""
    shares = [call.failed for call in calls]
    return min(shares) > 0.6 * max(shares) and max(call.late for call in calls) < LATE


def _is_unhealthy(evidence: Evidence, service: str) -> bool:
    return service in evidence.unhealthy()


def _passed_on(evidence: Evidence, out: list[CallStats]) -> float:
    """Per cent of requests that failing callees can account for: only calls that the caller cannot do without."""
    ok = 1.0
    for call in out:
        if (call.caller, call.callee) in evidence.needed:
            ok *= 1 - min(1.0, call.usual) * call.failed / 100
    return 100 * (1 - ok)


class ChangeAtOnset(NamedTuple):
    """Who changed a service in the very minute its trouble began."""

    verb: str = ""
    """The agent's verb, or person; empty if no change is known."""
    agent: str | None = None
    minute: int | None = None


def join(evidence: Evidence, finding: ServiceFinding) -> ChangeAtOnset:
    """Who changed the service of a finding in the very minute the trouble began."""
    minutes = _began(evidence, finding)
    verbs = [verb for verb in CAUSES[finding.symptom] if verb not in ("", "person")]
    actions = [
        a
        for a in evidence.actions
        if a.service == finding.service and a.verb in verbs and a.minute in minutes and _harmful(a)
    ]
    if actions:
        return ChangeAtOnset(actions[0].verb, actions[0].agent, actions[0].minute)
    if "person" in CAUSES[finding.symptom]:
        pushed = [p.minute for p in evidence.deploys if p.service == finding.service and p.minute in minutes]
        if pushed:
            return ChangeAtOnset("person", None, pushed[0])
    return ChangeAtOnset()


def _harmful(action: Action) -> bool:
    """A scale counts only when it takes replicas away."""
    if action.verb != "scale":
        return True
    before, _, after = action.detail.partition("->")
    return int(after) < int(before)


def _began(evidence: Evidence, finding: ServiceFinding) -> set[int]:
    """Minutes in which the symptom may have begun, by alerts at the service, else at its callers."""
    service = finding.service
    if finding.symptom == "cache misses":
        below = {m for callee in evidence.callees[service] for m in evidence.onsets(callee)}
        return {minute - 1 for minute in below}  # the store feels the misses one minute later
    own = evidence.onsets(service)
    if own and finding.symptom != "calls lost":
        return own
    return own | {m for caller in evidence.callers[service] for m in evidence.onsets(caller)}


def conclude(evidence: Evidence, finding: ServiceFinding, sees_changes: bool) -> CauseHypothesis:
    """Name the cause of a finding. Without sight of changes the likeliest is named, and marked unsure."""
    causes = CAUSES[finding.symptom]
    if not sees_changes:
        verb = "" if "" in causes else next(iter(causes))
        return _hypothesis(finding, verb, None, sure=len(causes) == 1 and finding.symptom != "cache misses")
    verb, agent, _ = join(evidence, finding)
    if finding.symptom == "cache misses" and agent is None:
        # No one touched the cache: its store is flooded by retries, and the cache happens to be the only caller.
        return CauseHypothesis("cascade", evidence.callees[finding.service][0], "scale", None, sure=True)
    if verb not in causes:
        verb = "person" if "person" in causes else next(iter(causes))
        return _hypothesis(finding, verb, None, sure=False)
    return _hypothesis(finding, verb, agent, sure=True)


def _hypothesis(finding: ServiceFinding, verb: str, agent: str | None, *, sure: bool) -> CauseHypothesis:
    """The cause of a finding if that verb (or a person, or no change) is behind it."""
    name, fix = CAUSES[finding.symptom][verb]
    return CauseHypothesis(name, finding.service, fix, agent, sure)


assert all(verb in ("", "person") or verb in AGENTS.values() for causes in CAUSES.values() for verb in causes)
