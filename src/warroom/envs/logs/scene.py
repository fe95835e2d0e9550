"""An incident of log triage as a person looks at it: all that is true, or what the agent on call was shown so far."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from warroom.core.scene import Edge, Node, Scene
from warroom.core.types import Observation
from warroom.envs.logs import oracle
from warroom.envs.logs.views import CallLogs, Catalogue, Level, LogsObservation, Overview, Pair, ServiceLogs
from warroom.envs.scene_parts import Fact, KnownState, losses, of_type, outage_minutes, sections, violation_until
from warroom.sim.health import STATES, health
from warroom.sim.world import World

if TYPE_CHECKING:
    from warroom.envs.logs.base_env import BaseLogsEnv
    from warroom.envs.logs.env import LogsEnv
    from warroom.envs.logs.recorded import RecordedLogsEnv
    from warroom.envs.logs.recording_summary import RecordingSummary

SHOWN = 8
"""Pages whose lines of log a scene still shows, the latest."""

# -- all that is true -------------------------------------------------------------------------------


def true_scene(env: "LogsEnv") -> Scene:
    """Exact figures of the world behind the logs, and what it truly was."""
    nodes = tuple([_true_node(env, i) for i in range(env.incident.system.size)])
    lines = {"what is wrong": _wrong(env), "declared": declared(env), **_read(env.observation_trace)}
    clock = f"minute {env.world.minute}, {env.turn} of {env.budget} turns spent"
    return Scene(clock, nodes, _edges(env.catalogue), sections(lines))


def _true_node(env: "LogsEnv", i: int) -> Node:
    system, snapshot, written = env.incident.system, env.world.snapshots[env.world.minute], env.stream
    failing, usual, now = snapshot.error[i], system.latency[i], snapshot.latency[i]
    counts = written.written(env.world.minute)[i]
    facts = [
        ("failing", f"{100 * failing:.1f} %"),
        ("latency", f"{now:.0f} ms, usually {usual:.0f}"),
        ("lines", f"{counts.errors:.0f} ERROR, {counts.warnings:.0f} WARN of {counts.lines:.0f}"),
    ]
    if i in env.incident.missing:
        facts.append(("logs", "do not arrive"))
    elif i in env.incident.behind:
        facts.append(("logs", "arrive late"))
    entry = env.catalogue.entries[i]
    return Node(entry.name, entry.kind, health(failing, now, usual), (*facts, ("owner", entry.team)), _mark(env, i))


def _mark(env: "LogsEnv", i: int) -> str:
    for fault, active in zip(env.incident.faults, env.world.active, strict=True):
        if fault.target == i:
            return "root cause" if active else "root cause, fixed"
    return ""


def _wrong(env: "LogsEnv") -> list[str]:
    names, user_impact = env.incident.system.names, env.certificate.impact
    out = [
        f"{fault.mechanism.name} at {names[fault.target]} from minute {fault.onset:+d}, "
        f"{'in force' if active else 'over'}{f'; fixed by {fix}' if (fix := fault.mechanism.fix) else ''}"
        for fault, active in zip(env.incident.faults, env.world.active, strict=True)
    ]
    if not out:
        return ["nothing: the alarm was false"]
    return [
        *out,
        f"{user_impact.severity}: {100 * user_impact.failing:.1f} % of user requests failed, "
        f"latency was {user_impact.slower:.1f} times that before",
        f"to be paged: {', '.join(sorted(env.incident.teams))}",
    ]


def declared(env: "BaseLogsEnv") -> list[str]:
    """What the seat declared so far."""
    return [f"{kind}: {', '.join(values)}" for kind, values in env.declared_values.items() if values]


def _edges(catalogue: Catalogue) -> tuple[Edge, ...]:
    return tuple([Edge(entry.name, callee) for entry in catalogue.entries for callee in entry.calls])


# -- a recording: what can be read from it ------------------------------------------------------------


def recorded_scene(env: "RecordedLogsEnv") -> Scene:
    """What traces and logs of the recording say of every service, and where the fault was."""
    known = _everything(env.recording_summary, env.catalogue)
    nodes = tuple([
        Node(entry.name, entry.kind, *known[entry.name], "root cause" if entry.name == env.label.root else "")
        for entry in env.catalogue.entries
    ])  # fmt: skip
    fault = f"{env.label.fault} at {env.label.root}" if env.label.root else "nobody knows"
    wrong = [fault, f"recorded incident {env.incident.id}"]
    lines = {"what was wrong": wrong, "declared": declared(env), **_read(env.observation_trace)}
    clock = f"a recording, {env.turn} of {env.budget} turns spent"
    return Scene(clock, nodes, _edges(env.catalogue), sections(lines))


@lru_cache(maxsize=4)
def _everything(recording_summary: "RecordingSummary", catalogue: Catalogue) -> dict[str, KnownState]:
    """A recording stands still, so one reading of everything does for all turns."""
    return _known(catalogue, [recording_summary.logs(name) for name in catalogue.names])


# -- what the seat was shown ---------------------------------------------------------------------------


def seat_scene(env: "BaseLogsEnv", seat: str) -> Scene:
    """The catalogue, and what pages and replies say of it."""
    shown = env.observations_of(seat)
    observations = of_type(shown, LogsObservation)
    known = _known(env.catalogue, [page.reply for page in observations if page.reply is not None])
    nodes = tuple([
        Node(entry.name, entry.kind, known[entry.name].state, (*known[entry.name].facts, ("owner", entry.team)))
        for entry in env.catalogue.entries
    ])  # fmt: skip
    lines = {"last reply": _last_reply(observations), "declared": declared(env), **_read(env.observation_trace)}
    clock = f"minute {observations[-1].minute}, turn {observations[-1].turn} of {env.budget}" if observations else ""
    return Scene(clock, nodes, _edges(env.catalogue), sections(lines))


def _known(catalogue: Catalogue, replies: Sequence[ServiceLogs | Overview]) -> dict[str, KnownState]:
    """State and facts of every service: by its own logs, and by what its callers say of it, whichever is worse."""
    own: dict[str, KnownState] = {}
    reported: dict[str, dict[str, KnownState]] = {}
    for reply in replies:
        if isinstance(reply, Overview):
            own |= {level.service: KnownState(_state_of(own, level), _level(level)) for level in reply.levels}
        else:
            own[reply.service] = _own(reply)
            for call in reply.calls:
                reported.setdefault(call.callee, {})[reply.service] = _reported_by_caller(call, reply.service)
    return {name: _joined(own.get(name), reported.get(name, {})) for name in catalogue.names}


def _state_of(own: dict[str, KnownState], level: Level) -> str:
    """Counts of lines alone say nothing of how a service is; what was known of it stays known."""
    return own[level.service].state if level.service in own else "unknown"


def _own(reply: ServiceLogs) -> KnownState:
    facts, failing, slower = list[Fact](), None, 0.0
    if reply.failed is not None and reply.handled is not None:
        failing = _share(reply.failed.now, reply.handled.now)
        facts.append(("failed", _of(reply.failed, reply.handled)))
    if reply.median is not None:
        slower = _times(reply.median)
        facts.append(("median", _usually(reply.median)))
    known = failing is not None or reply.median is not None
    return KnownState(health(failing or 0.0, slower, 1.0) if known else "unknown", (*facts, *_level(reply.level)))


def _level(level: Level) -> tuple[Fact, ...]:
    if level.lines is None or level.warnings is None or level.errors is None:
        return (("logs", "no logs arrive"),)
    return ("ERROR", level.errors.render()), ("WARN", level.warnings.render()), ("lines", level.lines.render())


def _reported_by_caller(call: CallLogs, caller: str) -> KnownState:
    fact = (f"calls by {caller}", f"{_of(call.failed, call.made)} failed; median {_usually(call.median)}")
    return KnownState(health(_share(call.failed.now, call.made.now), _times(call.median), 1.0), (fact,))


def _of(part: Pair, whole: Pair) -> str:
    return f"{part.now:g} of {whole.now:g}, before {part.before:g} of {whole.before:g}"


def _usually(pair: Pair) -> str:
    return f"{pair.now:g} ms, usually {pair.before:g}"


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _times(pair: Pair) -> float:
    return pair.now / pair.before if pair.before else 0.0


def _joined(own: KnownState | None, reported: dict[str, KnownState]) -> KnownState:
    known = [own or KnownState("unknown"), *reported.values()]
    return KnownState(
        max([one.state for one in known], key=STATES.index), tuple([f for one in known for f in one.facts])
    )


def _last_reply(observations: Sequence[LogsObservation]) -> list[str]:
    replies = [page.reply for page in observations if page.reply is not None]
    return replies[-1].render().splitlines() if replies else []


def _read(seen: Iterable[tuple[str, Observation]] | None) -> dict[str, list[str]]:
    """Lines of log that pages showed, as far as anybody remembers them."""
    observations = of_type([what for _, what in seen or ()], LogsObservation)
    lines = [line for page in observations[-SHOWN:] for line in page.lines]
    volume = [observations[-1].volume.render()] if observations else []
    return {"whole system": volume, "log lines": [line.render() for line in dict.fromkeys(lines)]}


# -- what would have been -------------------------------------------------------------------------------


def counterfactual(env: "LogsEnv") -> tuple[str, ...]:
    """What users lost, and would have lost had no one acted or had the oracle: by replay."""
    if not env.incident.faults:
        return ("Nothing was wrong: users lost nothing, whatever was done.",)
    end, provider_recovery_minute = env.budget, env.incident.provider_recovery_minute

    def lost(world: World, abuse_stopped_minute: int | None) -> float:
        def advance(world: World) -> None:
            oracle.advance_minute(world, provider_recovery_minute, abuse_stopped_minute)

        return violation_until(world, end, advance)

    known = _at_page(env)
    turns = oracle.solve(known, end, provider_recovery_minute)
    least = outage_minutes(lost(known, oracle.SECURITY_RESPONSE_MINUTES))
    return (
        *losses(lost(env.world.copy(), env.abuse_stopped_minute), lost(_at_page(env), None), end),
        f"One who knew the truth would have closed it in turn {turns}, and they would have lost {least}.",
    )


def _at_page(env: "LogsEnv") -> World:
    return oracle.advance_to_page(oracle.before_onset(env.incident.base), env.incident.base)
