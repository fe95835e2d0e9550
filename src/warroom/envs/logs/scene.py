"""An incident of log triage as a person looks at it: all that is true, or what the agent on call was told so far."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from warroom.core.scene import Edge, Node, Scene, Section
from warroom.core.types import Observation
from warroom.envs.logs import oracle
from warroom.envs.logs.views import CallLogs, Catalogue, Level, LogPage, Overview, Pair, ServiceLogs
from warroom.sim.world import World

if TYPE_CHECKING:
    from warroom.envs.logs.digest import Digest
    from warroom.envs.logs.env import LogTriage
    from warroom.envs.logs.oncall import OnCall
    from warroom.envs.logs.recorded import Recorded

FAILING, MANY_FAILING = 0.05, 0.3
"""Shares of failed requests from which a service is degraded, and critical."""
SLOW, VERY_SLOW = 2.0, 4.0
"""The same of its latency, as a multiple of that before."""
SHOWN = 8
"""Pages whose lines of log a scene still shows, the latest."""
ORDER = ("unknown", "healthy", "degraded", "critical")
"""States, the worse the later."""
Fact = tuple[str, str]


def state(failing: float, slower: float) -> str:
    """How a service is: by its share of failed requests, and its latency as a multiple of that before."""
    if failing > MANY_FAILING or slower > VERY_SLOW:
        return "critical"
    return "degraded" if failing > FAILING or slower > SLOW else "healthy"


# -- all that is true -------------------------------------------------------------------------------


def true_scene(env: "LogTriage") -> Scene:
    """Exact figures of the world behind the logs, and what it truly was."""
    nodes = tuple([_true_node(env, i) for i in range(env.incident.system.size)])
    lines = {"what is wrong": _wrong(env), "declared": declared(env), **_read(env.seen)}
    clock = f"minute {env.world.minute}, {env.turn} of {env.budget} turns spent"
    return Scene(clock, nodes, _edges(env.catalogue), _sections(lines))


def _true_node(env: "LogTriage", i: int) -> Node:
    system, snapshot, written = env.incident.system, env.world.snapshots[env.world.minute], env.stream
    failing, usual, now = snapshot.error[i], system.latency[i], snapshot.latency[i]
    told = written.written(env.world.minute)[i]
    facts = [
        ("failing", f"{100 * failing:.1f} %"),
        ("latency", f"{now:.0f} ms, usually {usual:.0f}"),
        ("lines", f"{told.errors:.0f} ERROR, {told.warnings:.0f} WARN of {told.lines:.0f}"),
    ]
    if i in env.incident.missing:
        facts.append(("logs", "do not arrive"))
    elif i in env.incident.behind:
        facts.append(("logs", "arrive late"))
    entry = env.catalogue.entries[i]
    return Node(entry.name, entry.kind, state(failing, now / usual), (*facts, ("owner", entry.team)), _mark(env, i))


def _mark(env: "LogTriage", i: int) -> str:
    for fault, active in zip(env.incident.faults, env.world.active, strict=True):
        if fault.target == i:
            return "root cause" if active else "root cause, mended"
    return ""


def _wrong(env: "LogTriage") -> list[str]:
    names, felt = env.incident.system.names, env.certificate.impact
    out = [
        f"{fault.mechanism.name} at {names[fault.target]} from minute {fault.onset:+d}, "
        f"{'in force' if active else 'over'}{f'; {cure} mends it' if (cure := fault.mechanism.cure) else ''}"
        for fault, active in zip(env.incident.faults, env.world.active, strict=True)
    ]
    if not out:
        return ["nothing: the alarm was false"]
    return [
        *out,
        f"{felt.severity}: {100 * felt.failing:.1f} % of user requests failed, latency was {felt.slower:.1f} times "
        "that before",
        f"to be paged: {', '.join(sorted(env.incident.teams))}",
    ]


def declared(env: "OnCall") -> list[str]:
    """What the seat declared so far."""
    return [f"{kind}: {', '.join(values)}" for kind, values in env.said.items() if values]


def _edges(catalogue: Catalogue) -> tuple[Edge, ...]:
    return tuple([Edge(entry.name, callee) for entry in catalogue.entries for callee in entry.calls])


def _sections(lines: dict[str, list[str]]) -> tuple[Section, ...]:
    return tuple([Section(title, tuple(told)) for title, told in lines.items() if told])


# -- a recording: what can be read from it ------------------------------------------------------------


def recorded_scene(env: "Recorded") -> Scene:
    """What traces and logs of the recording say of every service, and where the fault was."""
    told = _everything(env.digest, env.catalogue)
    nodes = tuple([
        Node(entry.name, entry.kind, *told[entry.name], "root cause" if entry.name == env.label.root else "")
        for entry in env.catalogue.entries
    ])  # fmt: skip
    wrong = [f"{env.label.fault} at {env.label.root}", f"recorded incident {env.incident.id}"]
    lines = {"what was wrong": wrong, "declared": declared(env), **_read(env.seen)}
    clock = f"a recording, {env.turn} of {env.budget} turns spent"
    return Scene(clock, nodes, _edges(env.catalogue), _sections(lines))


@lru_cache(maxsize=4)
def _everything(digest: "Digest", catalogue: Catalogue) -> dict[str, tuple[str, tuple[Fact, ...]]]:
    """A recording stands still, so one reading of everything does for all turns."""
    return _known(catalogue, [digest.logs(name) for name in catalogue.names])


# -- what the seat was told ----------------------------------------------------------------------------


def seat_scene(env: "OnCall", seat: str) -> Scene:
    """The catalogue, and whatever pages and replies told of it."""
    shown = env.shown_to(seat)
    pages = [page for page in shown if isinstance(page, LogPage)]
    told = _known(env.catalogue, [page.reply for page in pages if page.reply is not None])
    nodes = tuple([
        Node(entry.name, entry.kind, told[entry.name][0], (*told[entry.name][1], ("owner", entry.team)))
        for entry in env.catalogue.entries
    ])  # fmt: skip
    lines = {"last reply": _last_reply(pages), "declared": declared(env), **_read(env.seen)}
    clock = f"minute {pages[-1].minute}, turn {pages[-1].turn} of {env.budget}" if pages else ""
    return Scene(clock, nodes, _edges(env.catalogue), _sections(lines))


def _known(catalogue: Catalogue, replies: Sequence[ServiceLogs | Overview]) -> dict[str, tuple[str, tuple[Fact, ...]]]:
    """State and facts of every service: by its own logs, and by what its callers say of it, whichever is worse."""
    own: dict[str, tuple[str, tuple[Fact, ...]]] = {}
    heard: dict[str, dict[str, tuple[str, Fact]]] = {}
    for reply in replies:
        if isinstance(reply, Overview):
            own |= {level.service: (_state_of(own, level), _level(level)) for level in reply.levels}
        else:
            own[reply.service] = _own(reply)
            for call in reply.calls:
                heard.setdefault(call.callee, {})[reply.service] = _heard(call, reply.service)
    return {name: _joined(own.get(name), heard.get(name, {})) for name in catalogue.names}


def _state_of(own: dict[str, tuple[str, tuple[Fact, ...]]], level: Level) -> str:
    """Counts of lines alone say nothing of how a service is; what was known of it stays known."""
    return own[level.service][0] if level.service in own else "unknown"


def _own(reply: ServiceLogs) -> tuple[str, tuple[Fact, ...]]:
    facts, failing, slower = list[Fact](), None, 0.0
    if reply.failed is not None and reply.handled is not None:
        failing = _share(reply.failed.now, reply.handled.now)
        facts.append(("failed", _of(reply.failed, reply.handled)))
    if reply.median is not None:
        slower = _times(reply.median)
        facts.append(("median", _usually(reply.median)))
    known = failing is not None or reply.median is not None
    return state(failing or 0.0, slower) if known else "unknown", (*facts, *_level(reply.level))


def _level(level: Level) -> tuple[Fact, ...]:
    if level.lines is None or level.warnings is None or level.errors is None:
        return (("logs", "no logs arrive"),)
    return ("ERROR", level.errors.render()), ("WARN", level.warnings.render()), ("lines", level.lines.render())


def _heard(call: CallLogs, caller: str) -> tuple[str, Fact]:
    fact = (f"calls by {caller}", f"{_of(call.failed, call.made)} failed; median {_usually(call.median)}")
    return state(_share(call.failed.now, call.made.now), _times(call.median)), fact


def _of(part: Pair, whole: Pair) -> str:
    return f"{part.now:g} of {whole.now:g}, before {part.before:g} of {whole.before:g}"


def _usually(pair: Pair) -> str:
    return f"{pair.now:g} ms, usually {pair.before:g}"


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _times(pair: Pair) -> float:
    return pair.now / pair.before if pair.before else 0.0


def _joined(
    own: tuple[str, tuple[Fact, ...]] | None, heard: dict[str, tuple[str, Fact]]
) -> tuple[str, tuple[Fact, ...]]:
    own_state, facts = own or ("unknown", ())
    states = [own_state, *[found for found, _ in heard.values()]]
    return max(states, key=ORDER.index), (*facts, *[fact for _, fact in heard.values()])


def _last_reply(pages: Sequence[LogPage]) -> list[str]:
    replies = [page.reply for page in pages if page.reply is not None]
    return replies[-1].render().splitlines() if replies else []


def _read(seen: Iterable[tuple[str, Observation]] | None) -> dict[str, list[str]]:
    """Lines of log that pages showed, as far as anybody remembers them."""
    shown: list[Any] = [what for _, what in seen or ()]
    pages = [page for page in shown if isinstance(page, LogPage)]
    lines = [line for page in pages[-SHOWN:] for line in page.lines]
    volume = [pages[-1].volume.render()] if pages else []
    return {"whole system": volume, "log lines": [line.render() for line in dict.fromkeys(lines)]}


# -- what would have been -------------------------------------------------------------------------------


def counterfactual(env: "LogTriage") -> tuple[str, ...]:
    """What users lost, and would have lost had nobody acted or had one who knows the truth: by replay."""
    if not env.incident.faults:
        return ("Nothing was wrong: users lost nothing, whatever was done.",)
    base, end, mended = env.incident.base, env.budget, env.incident.mended
    lost = _until(env.world.copy(), end, mended, env.stopped)
    alone = _until(_at_page(env), end, mended, None)
    known = _at_page(env)
    turns = oracle.solve(known, end, mended)
    least = _until(known, end, mended, oracle.STOPPED)
    from_page = f"up to minute {end}"
    assert base.faults and turns is not None
    return (
        f"As it was played, users lost {_minutes(lost)} {from_page}.",
        f"Had nobody acted, they would have lost {_minutes(alone)}.",
        f"One who knew the truth would have closed it in turn {turns}, and they would have lost {_minutes(least)}.",
    )


def _at_page(env: "LogTriage") -> World:
    return oracle.until_page(oracle.before_onset(env.incident.base), env.incident.base)


def _until(world: World, minute: int, mended: int, stopped: int | None) -> float:
    world.records = False
    while world.minute < minute:
        oracle.pass_minute(world, mended, stopped)
    return world.total_burn


def _minutes(burn: float) -> str:
    return f"{burn:.1f} minutes of full outage"
