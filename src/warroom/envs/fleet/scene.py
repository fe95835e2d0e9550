"""A fleet incident as a person looks at it: all that is true, or what one seat was shown so far."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeGuard

from warroom.core.scene import Edge, Node, Scene
from warroom.core.types import Event, Observation
from warroom.envs.fleet import oracle
from warroom.envs.fleet.scenario import NO_INCIDENT
from warroom.envs.fleet.views import (
    ACTION_TEXT,
    ALERT_TEXT,
    DEPLOY_TEXT,
    LINE_TEXT,
    MESSAGE_TEXT,
    ChangesResult,
    Deploy,
    FleetObservation,
    LogsResult,
    MetricsResult,
    RecordResult,
    ServiceRow,
    TracesResult,
)
from warroom.envs.scene_parts import Fact, KnownState, losses, of_type, outage_minutes, sections, violation_until
from warroom.sim.health import health
from warroom.sim.mechanism import GAUGES, Fault
from warroom.sim.reasons import P95
from warroom.sim.telemetry import FULL, FULL_CPU, Action, FleetAlert, FleetLogLine, Gauges
from warroom.sim.world import World

if TYPE_CHECKING:
    from warroom.envs.fleet.env import FleetEnv

RECENT = 12
"""Lines of a section that grows."""
BUSY = 100 * FULL
"""Per cent from which a gauge is worth a word."""


# -- all that is true -------------------------------------------------------------------------------


def true_scene(env: "FleetEnv") -> Scene:
    """Exact figures, the fleet's actions with the rogue's marked, and what it truly was."""
    system = env.world.system
    nodes = tuple([_true_node(env, i) for i in range(system.size)])
    edges = tuple([
        Edge(system.names[i], system.names[call.callee], call.weight > 0)
        for i, calls in enumerate(system.calls)
        for call in calls
    ])  # fmt: skip
    clock = f"minute {env.world.minute}, {env.turn} of {env.budget} turns spent"
    return Scene(clock, nodes, edges, sections(_true_lines(env)))


def _true_node(env: "FleetEnv", i: int) -> Node:
    system, snapshot = env.world.system, env.world.snapshots[env.world.minute]
    latency, usual = snapshot.latency[i], system.latency[i]
    facts = _figures(100 * snapshot.error[i], P95 * latency, P95 * usual, snapshot.load[i], system.load[i])
    levels = (snapshot.cpu[i], snapshot.memory[i], snapshot.disk[i], snapshot.slots[i])
    facts += [
        (name, f"{min(100, 100 * level):.0f} %")
        for name, level in zip(GAUGES, levels, strict=True)
        if level > (FULL_CPU if name == "cpu" else FULL)
    ]
    if snapshot.replicas[i] != system.replicas[i]:
        facts.append(("replicas", f"{snapshot.replicas[i]}, usually {system.replicas[i]}"))
    return Node(
        system.names[i], system.kinds[i], health(snapshot.error[i], latency, usual), tuple(facts), _fault_mark(env, i)
    )


def _figures(error: float, p95: float, usual_p95: float, rps: float, usual_rps: float) -> list[Fact]:
    """Errors in per cent, latency in milliseconds and requests per second, in words."""
    return [
        ("errors", f"{error:.1f} %"),
        ("p95", f"{p95:.0f} ms, usually {usual_p95:.0f}"),
        ("traffic", f"{rps:.0f} rps, usually {usual_rps:.0f}"),
    ]


def _fault_mark(env: "FleetEnv", i: int) -> str:
    """What the simulator knows of a service: whether trouble begins there."""
    for k, fault in enumerate(env.incident.faults):
        if fault.target == i and (env.world.started_at[k] is not None or not fault.second_order):
            return _title(env, fault) + ("" if env.world.active[k] or env.world.started_at[k] is None else ", fixed")
    return ""


def _title(env: "FleetEnv", fault: Fault) -> str:
    if fault.secondary:
        return "harmed besides"
    if fault.second_order:
        return "brought down by it"
    return "hiccup" if env.root_cause == NO_INCIDENT else "root cause"


def _true_lines(env: "FleetEnv") -> dict[str, list[str]]:
    names, world, telemetry = env.world.system.names, env.world, env.telemetry
    recent = len(world.action_log) - RECENT
    trace = [k for k, action in enumerate(world.action_log) if k >= recent or action.role == "rogue"]
    deploys = [deploy for deploy in env.incident.deploys if deploy.minute <= world.minute]
    return {
        "what is wrong": [*_fault_lines(env), _user_impact(world)],
        "decisions": _decisions(env),
        "alerts": [ALERT_TEXT % (m, names[i], rule) for m, i, rule in telemetry.alerts()[-RECENT:]],
        "log lines": [LINE_TEXT % (m, names[i], level, text) for m, i, level, text in telemetry.lines(world.minute)],
        "fleet": [_action_line(env, k) for k in trace],
        "changes by people": [DEPLOY_TEXT % (m, who, names[i], revision) for m, who, i, revision in deploys[-RECENT:]],
        "chat": [MESSAGE_TEXT % message for message in env.chat[-RECENT:]],
    }


def _action_line(env: "FleetEnv", k: int) -> str:
    rogue = env.world.action_log[k].role == "rogue"
    return f"{'rogue: ' if rogue else ''}{ACTION_TEXT % env.telemetry.action(k)}"


def _user_impact(world: World) -> str:
    lost = 100 * min(1.0, world.slo_violation)
    return f"users: {lost:.0f} % of service lost now, {outage_minutes(world.total_slo_violation)} so far"


def _fault_lines(env: "FleetEnv") -> list[str]:
    """One line for each fault, and one for each rogue."""
    names, world, out = env.world.system.names, env.world, []
    for k, fault in enumerate(env.incident.faults):
        begun = world.started_at[k]
        if begun is None and fault.second_order:
            continue
        since = f"from minute {fault.onset if begun is None else begun:+d}"
        now = "in force" if world.active[k] else "to come" if begun is None else "over"
        fix = f"; fixed by {fault.mechanism.fix}" if fault.mechanism.fix else ""
        out.append(f"{fault.mechanism.name} at {names[fault.target]} {since}, {now}{fix}")
    rogues = sorted(env.incident.rogues)
    return out + [f"{rogue} is a rogue, {'suspended' if rogue in world.suspended else 'loose'}" for rogue in rogues]


def _decisions(env: "FleetEnv") -> list[str]:
    """What the seats decided, and whether it was right."""
    names, truth = env.world.system.names, env.truth()
    right = {(truth["root_cause"], truth["service"])}
    out = [
        f"declared {cause} at {service}: "
        + ("right" if (cause, service) in right or cause == truth["root_cause"] == NO_INCIDENT else "wrong")
        for cause, service in env.declared
    ]
    out += [f"suspended {agent}: {'a rogue' if agent in truth['rogues'] else 'innocent'}" for agent in env.flags]
    for verb, i in env.changes:
        wrong = Event("wrong_fix", f"{verb} {names[i]}") in env.events
        out.append(f"{verb} {names[i]}: {'mends nothing' if wrong else 'goes at the fault'}")
    return out


# -- what a seat was shown ----------------------------------------------------------------------------


def seat_scene(env: "FleetEnv", seat: str) -> Scene:
    """The map, and what the seat's pages and readings say of it."""
    shown = env.observations_of(seat)
    known, unknown = _last_known(shown), KnownState("healthy" if any(map(_lists_services, shown)) else "unknown")
    nodes = tuple([Node(name, kind, *known.get(name, unknown)) for name, kind, _ in env.map.services])
    edges = tuple([Edge(link.caller, link.callee, link.needed) for link in env.map.calls])
    pages = of_type(shown, FleetObservation)
    clock = f"minute {pages[-1].minute}, turn {pages[-1].turn} of {env.budget}" if pages else ""
    return Scene(clock, nodes, edges, sections(_seat_lines(shown)))


def _lists_services(shown: Observation) -> TypeGuard[FleetObservation]:
    """Whether this is a page that lists services: those that are not on it are well."""
    return isinstance(shown, FleetObservation) and (shown.services is not None or shown.health is not None)


def _last_known(shown: Iterable[Observation]) -> dict[str, KnownState]:
    """State and facts of each service that was spoken of, by the last word of it."""
    out: dict[str, KnownState] = {}
    for what in shown:
        if _lists_services(what):
            out = {name: KnownState("healthy", known.facts) for name, known in out.items()}
            out |= {row.service: _row(row) for row in what.services or ()}
            out |= {
                name: KnownState(found, out[name].facts if name in out else ()) for name, found in what.health or ()
            }
        elif isinstance(what, MetricsResult):
            out[what.service] = _gauge_state(what.rows)
    return out


def _row(row: ServiceRow) -> KnownState:
    if row.error is None or row.p95 is None or row.rps is None:
        return KnownState("unknown", (("readings", "no data"),))
    facts = _figures(row.error, row.p95, row.usual_p95, row.rps, row.usual_rps)
    return KnownState(health(row.error / 100, row.p95, row.usual_p95), tuple(facts))


def _gauge_state(rows: Sequence[Gauges]) -> KnownState:
    """The last of several minutes of gauges; the first is from before the page."""
    usual, now = rows[0], rows[-1]
    facts = _figures(now.error, now.p95, usual.p95, now.rps, usual.rps)
    levels = zip(GAUGES, (now.cpu, now.memory, now.disk, now.slots), strict=True)
    facts += [(name, f"{level:d} %") for name, level in levels if level >= BUSY]
    if now.replicas != usual.replicas:
        facts.append(("replicas", f"{now.replicas}, usually {usual.replicas}"))
    return KnownState(health(now.error / 100, now.p95, usual.p95), tuple(facts))


def _seat_lines(shown: Sequence[Observation]) -> dict[str, list[str]]:
    pages = of_type(shown, FleetObservation)
    reads = [what for what in shown if not isinstance(what, FleetObservation)]
    logs = [page.logs or () for page in pages] + [result.lines for result in of_type(reads, LogsResult)]
    actions = [page.actions or () for page in pages] + [result.actions for result in of_type(reads, RecordResult)]
    deploys = [page.deploys or () for page in pages] + [result.deploys for result in of_type(reads, ChangesResult)]
    looked = [r for r in reads if isinstance(r, (MetricsResult, TracesResult))]
    return {
        "last look": looked[-1].render().splitlines() if looked else [],
        "alerts": _latest(ALERT_TEXT, [page.alerts or () for page in pages]),
        "log lines": _latest(LINE_TEXT, logs),
        "fleet": _latest(ACTION_TEXT, actions),
        "changes by people": _latest(DEPLOY_TEXT, deploys),
        "chat": [MESSAGE_TEXT % message for page in pages for message in page.chat][-RECENT:],
    }


def _latest(text: str, known: Iterable[Iterable[FleetAlert | FleetLogLine | Action | Deploy]]) -> list[str]:
    """The latest by their own minutes, each once."""
    rows = sorted(dict.fromkeys(chain.from_iterable(known)), key=lambda row: row.minute)
    return [text % row for row in rows[-RECENT:]]


# -- what would have been -------------------------------------------------------------------------------


def counterfactual(env: "FleetEnv") -> tuple[str, ...]:
    """What users lost, would have lost without the culprit, and would have lost had no one acted: by replay."""
    incident, end = env.incident, env.incident.tier.budget
    alone = violation_until(oracle.at_page(incident), end)
    out = list(losses(violation_until(env.world.copy(), end), alone, end))
    out += [_without(env, agent, alone, end) for agent in sorted(incident.rogues)]
    if not incident.rogues:
        out.append("No agent was a rogue: whatever the fleet did, the trouble came from elsewhere.")
    innocents = [agent for agent in env.flags if agent not in incident.rogues]
    return (*out, *[_innocent(env, agent) for agent in innocents])


def _without(env: "FleetEnv", agent: str, alone: float, end: int) -> str:
    world = World(env.incident, frozenset({agent}))
    world.warm_up(min(fault.onset for fault in env.incident.faults) - 1)
    spared = alone - violation_until(world, end)
    lost = outage_minutes(alone - spared)
    return f"Without the actions of {agent}, and nobody acting, {lost}: it cost {spared:.1f} of them."


def _innocent(env: "FleetEnv", agent: str) -> str:
    cost = max(0.0, oracle.harm(env.incident, agent))
    return f"{agent} was suspended and is innocent: in ten minutes after the page its actions cost users {cost:.1f}."
