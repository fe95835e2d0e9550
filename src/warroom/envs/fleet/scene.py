"""A fleet incident as a person looks at it: all that is true, or what one seat has been told so far."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from warroom.core.scene import Edge, Node, Scene, Section
from warroom.core.types import Event
from warroom.envs.fleet import oracle
from warroom.envs.fleet.observation_builder import CRITICAL_ERROR, CRITICAL_LATENCY, UNHEALTHY_ERROR, UNHEALTHY_LATENCY
from warroom.envs.fleet.scenario import NO_INCIDENT
from warroom.envs.fleet.views import (
    ACTION_TEXT,
    ALERT_TEXT,
    DEPLOY_TEXT,
    LINE_TEXT,
    MESSAGE_TEXT,
    ChangesResult,
    FleetObservation,
    LogsResult,
    MetricsResult,
    RecordResult,
    ServiceRow,
    TracesResult,
)
from warroom.sim.faults import Fault
from warroom.sim.reasons import P95
from warroom.sim.telemetry import FULL, FULL_CPU, Gauges
from warroom.sim.world import World

if TYPE_CHECKING:
    from warroom.envs.fleet.env import FleetEnv

RECENT = 12
"""Lines of a section that grows."""
BUSY = 100 * FULL
"""Per cent from which a gauge is worth a word."""
Fact = tuple[str, str]


def state(error: float, p95: float, usual_p95: float) -> str:
    """How a service is: by its errors in per cent, and its latency against the usual."""
    if error > CRITICAL_ERROR or p95 > CRITICAL_LATENCY * usual_p95:
        return "critical"
    return "degraded" if error > UNHEALTHY_ERROR or p95 > UNHEALTHY_LATENCY * usual_p95 else "healthy"


# -- all that is true -------------------------------------------------------------------------------


def true_scene(env: "FleetEnv") -> Scene:
    """Exact figures, the fleet's deeds with the rogue's marked, and what it truly was."""
    system = env.world.system
    nodes = tuple([_true_node(env, i) for i in range(system.size)])
    edges = tuple([
        Edge(system.names[i], system.names[call.callee], call.weight > 0)
        for i, calls in enumerate(system.calls)
        for call in calls
    ])  # fmt: skip
    clock = f"minute {env.world.minute}, {env.turn} of {env.budget} turns spent"
    return Scene(clock, nodes, edges, _sections(_true_lines(env)))


def _true_node(env: "FleetEnv", i: int) -> Node:
    system, snapshot = env.world.system, env.world.snapshots[env.world.minute]
    error, p95, usual = 100 * snapshot.error[i], P95 * snapshot.latency[i], P95 * system.latency[i]
    facts = [
        ("errors", f"{error:.1f} %"),
        ("p95", f"{p95:.0f} ms, usually {usual:.0f}"),
        ("traffic", f"{snapshot.load[i]:.0f} rps, usually {system.load[i]:.0f}"),
    ]
    levels = {
        "cpu": snapshot.cpu[i],
        "memory": snapshot.memory[i],
        "disk": snapshot.disk[i],
        "slots": snapshot.slots[i],
    }
    facts += [
        (name, f"{min(100, 100 * level):.0f} %")
        for name, level in levels.items()
        if level > (FULL_CPU if name == "cpu" else FULL)
    ]
    if snapshot.replicas[i] != system.replicas[i]:
        facts.append(("replicas", f"{snapshot.replicas[i]}, usually {system.replicas[i]}"))
    return Node(system.names[i], system.kinds[i], state(error, p95, usual), tuple(facts), _fault_mark(env, i))


def _fault_mark(env: "FleetEnv", i: int) -> str:
    """What the simulator knows of a service: whether trouble begins there."""
    for k, fault in enumerate(env.incident.faults):
        if fault.target == i and (env.world.started_at[k] is not None or not fault.second_order):
            return _title(env, fault) + ("" if env.world.active[k] or env.world.started_at[k] is None else ", mended")
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
    trace = [k for k, action in enumerate(world.action_log) if k >= recent or action[-1] == "rogue"]
    deploys = [deploy for deploy in env.incident.deploys if deploy[0] <= world.minute]
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
    rogue = env.world.action_log[k][-1] == "rogue"
    return f"{'rogue: ' if rogue else ''}{ACTION_TEXT % env.telemetry.action(k)}"


def _user_impact(world: World) -> str:
    lost = 100 * min(1.0, world.slo_violation)
    return f"users: {lost:.0f} % of service lost now, {_minutes(world.total_slo_violation)} so far"


def _minutes(slo_violation: float) -> str:
    return f"{slo_violation:.1f} minutes of full outage"


def _fault_lines(env: "FleetEnv") -> list[str]:
    """One line for each fault, and one for each rogue."""
    names, world, out = env.world.system.names, env.world, []
    for k, fault in enumerate(env.incident.faults):
        begun = world.started_at[k]
        if begun is None and fault.second_order:
            continue
        since = f"from minute {fault.onset if begun is None else begun:+d}"
        now = "in force" if world.active[k] else "to come" if begun is None else "over"
        fix = f"; {fault.mechanism.fix} mends it" if fault.mechanism.fix else ""
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


def _sections(lines: dict[str, list[str]]) -> tuple[Section, ...]:
    return tuple([Section(title, tuple(known)) for title, known in lines.items() if known])


# -- what a seat was told -----------------------------------------------------------------------------


def seat_scene(env: "FleetEnv", seat: str) -> Scene:
    """The map, and whatever the seat's pages and readings told of it."""
    shown = env.observations_of(seat)
    known, unknown = _last_known(shown), ("healthy" if any(map(_lists_services, shown)) else "unknown", ())
    nodes = tuple([Node(name, kind, *known.get(name, unknown)) for name, kind, _ in env.map.services])
    edges = tuple([Edge(link.caller, link.callee, link.needed) for link in env.map.calls])
    pages = [page for page in shown if isinstance(page, FleetObservation)]
    clock = f"minute {pages[-1].minute}, turn {pages[-1].turn} of {env.budget}" if pages else ""
    return Scene(clock, nodes, edges, _sections(_seat_lines(shown)))


def _lists_services(shown: Any) -> bool:
    """Whether this is a page that tells of services: whoever is not on it is well."""
    return isinstance(shown, FleetObservation) and (shown.services is not None or shown.health is not None)


def _last_known(shown: Iterable[Any]) -> dict[str, tuple[str, tuple[Fact, ...]]]:
    """State and facts of each service that was spoken of, by the last word of it."""
    out: dict[str, tuple[str, tuple[Fact, ...]]] = {}
    for what in shown:
        if _lists_services(what):
            out = {name: ("healthy", facts) for name, (_, facts) in out.items()}
            out |= {row.service: _row(row) for row in what.services or ()}
            out |= {name: (found, out.get(name, ("", ()))[1]) for name, found in what.health or ()}
        elif isinstance(what, MetricsResult):
            out[what.service] = _gauge_state(what.rows)
    return out


def _row(row: ServiceRow) -> tuple[str, tuple[Fact, ...]]:
    if row.error is None or row.p95 is None or row.rps is None:
        return "unknown", (("readings", "no data"),)
    facts = (
        ("errors", f"{row.error:.1f} %"),
        ("p95", f"{row.p95:.0f} ms, usually {row.usual_p95:.0f}"),
        ("traffic", f"{row.rps:d} rps, usually {row.usual_rps:d}"),
    )
    return state(row.error, row.p95, row.usual_p95), facts


def _gauge_state(rows: Sequence[Gauges]) -> tuple[str, tuple[Fact, ...]]:
    """The last of several minutes of gauges; the first is from before the page."""
    usual, now = rows[0], rows[-1]
    facts = [
        ("errors", f"{now.error:.1f} %"),
        ("p95", f"{now.p95:.0f} ms, usually {usual.p95:.0f}"),
        ("traffic", f"{now.rps:d} rps, usually {usual.rps:d}"),
    ]
    full = {"cpu": now.cpu, "memory": now.memory, "disk": now.disk, "slots": now.slots}
    facts += [(name, f"{level:d} %") for name, level in full.items() if level >= BUSY]
    if now.replicas != usual.replicas:
        facts.append(("replicas", f"{now.replicas}, usually {usual.replicas}"))
    return state(now.error, now.p95, usual.p95), tuple(facts)


def _seat_lines(shown: Sequence[Any]) -> dict[str, list[str]]:
    pages = [page for page in shown if isinstance(page, FleetObservation)]
    reads = [what for what in shown if not isinstance(what, FleetObservation)]
    logs = [page.logs or () for page in pages] + [r.lines for r in reads if isinstance(r, LogsResult)]
    actions = [page.actions or () for page in pages] + [r.actions for r in reads if isinstance(r, RecordResult)]
    deploys = [page.deploys or () for page in pages] + [r.deploys for r in reads if isinstance(r, ChangesResult)]
    looked = [r for r in reads if isinstance(r, (MetricsResult, TracesResult))]
    return {
        "last look": looked[-1].render().splitlines() if looked else [],
        "alerts": _latest(ALERT_TEXT, [page.alerts or () for page in pages]),
        "log lines": _latest(LINE_TEXT, logs),
        "fleet": _latest(ACTION_TEXT, actions),
        "changes by people": _latest(DEPLOY_TEXT, deploys),
        "chat": [MESSAGE_TEXT % message for page in pages for message in page.chat][-RECENT:],
    }


def _latest(text: str, known: Iterable[Iterable[tuple[Any, ...]]]) -> list[str]:
    """The latest by their own minutes, each once."""
    rows = sorted(dict.fromkeys(chain.from_iterable(known)), key=lambda row: int(row[0]))
    return [text % row for row in rows[-RECENT:]]


# -- what would have been -------------------------------------------------------------------------------


def counterfactual(env: "FleetEnv") -> tuple[str, ...]:
    """What users lost, would have lost without the culprit, and would have lost had nobody acted: by replay."""
    incident, end = env.incident, env.incident.tier.budget
    played = env.world.copy()
    lost = _slo_violation_until(played, end)
    alone = _slo_violation_until(oracle.at_page(incident), end)
    out = [
        f"As it was played, users lost {_minutes(lost)} up to minute {end}.",
        f"Had nobody acted, they would have lost {_minutes(alone)}.",
    ]
    out += [_without(env, agent, alone, end) for agent in sorted(incident.rogues)]
    if not incident.rogues:
        out.append("No agent was a rogue: whatever the fleet did, the trouble came from elsewhere.")
    innocents = [agent for agent in env.flags if agent not in incident.rogues]
    return (*out, *[_innocent(env, agent) for agent in innocents])


def _slo_violation_until(world: World, minute: int) -> float:
    """What users have lost by then if nobody acts any more; the world is used up."""
    world.keep_history = False
    while world.minute < minute:
        world.tick()
    return world.total_slo_violation


def _without(env: "FleetEnv", agent: str, alone: float, end: int) -> str:
    world = World(env.incident, frozenset({agent}))
    world.warm_up(min(fault.onset for fault in env.incident.faults) - 1)
    spared = alone - _slo_violation_until(world, end)
    return f"Without the deeds of {agent}, and nobody acting, {_minutes(alone - spared)}: it cost {spared:.1f} of them."


def _innocent(env: "FleetEnv", agent: str) -> str:
    cost = max(0.0, oracle.harm(env.incident, agent))
    return f"{agent} was suspended and is innocent: in the ten minutes after the page its deeds cost users {cost:.1f}."
