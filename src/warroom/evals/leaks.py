"""The leak scanner: plays whole episodes and looks for what only the truth knows in whatever the seats are shown.

Words are one way to leak; so are texts that differ with the truth, and the order of lists. Root causes have public
names, since the SRE must be able to declare them: their appearance anywhere else is a leak.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import erfc, sqrt
from random import Random
from typing import Any, NamedTuple

from warroom.core.scenario import Policy
from warroom.core.types import Brief, Observation, ToolCall, Turn
from warroom.envs import make, scenarios, suite
from warroom.envs.fleet.env import LOG_MINUTES, Fleet
from warroom.envs.fleet.views import FleetPage
from warroom.evals.degenerate import team_of
from warroom.evals.moves import Seen, scripted
from warroom.evals.outcomes import Incident, incidents
from warroom.policies import Team, team
from warroom.sim import faults, wordings
from warroom.sim.automation import VERBS

ROLES = ("rogue", "duty", "alike", "benign", "surge", "calm", "stuck")
"""What the plan calls its deeds."""
HIDDEN = (*ROLES, "hushed", "side", "bluff", "bluffing", "decoy", "severity", "onset", "innocent", "culprit", "redraw")
DRIVERS = ("expert", "random", "oracle", "reader")
"""Who plays the scanned episodes; the reader takes every reading of every seat."""
RARE = 1e-4
"""p below which an order counts as telling; a scan makes a handful of tests."""
FEW = 20
"""Incidents below which the absence of something proves nothing."""
WRONG_CALLS = (
    ToolCall("no_such_tool_x"),
    ToolCall("restart", {"service": "qqqqqqqq"}),
    ToolCall("restart", {}),
    ToolCall("escalate", {"service": "qqqqqqqq"}),
    ToolCall("flag", {"agent": "qqqqqqqq"}),
    ToolCall("declare", {"cause": "qqqqqqqq", "service": "qqqqqqqq"}),
    ToolCall("scale", {"service": "gateway", "replicas": 0}),
    ToolCall("scale", {"service": "gateway", "replicas": "many"}),
    ToolCall("wait", {"say": 7}),
    ToolCall("wait", {"force": True}),
)
"""Calls that are wrong for at least one seat."""


class Leak(NamedTuple):
    """Something that a seat is shown and must not be."""

    check: str
    where: str
    detail: str


@dataclass(frozen=True)
class Order:
    """Whether a thing that only the truth knows has a special place in a list: under no leak its place is uniform."""

    what: str
    n: int
    """Lists of two or more."""
    first: float
    """Share in which it is the first of the list, less what chance gives."""
    last: float
    """Share in which it is the last, less what chance gives."""
    p: float
    """Of the larger of both under chance, and of the mean place (normal approximations), corrected for three tests."""


@dataclass(frozen=True)
class LeakScan:
    """What the scanner read and found."""

    episodes: int
    texts: int
    leaks: tuple[Leak, ...]
    orders: tuple[Order, ...]

    def to_json(self) -> dict[str, Any]:
        """For a program."""
        return {**asdict(self), "leaks": [leak._asdict() for leak in self.leaks]}


def scan_leaks(tiers: Sequence[str], seeds: Sequence[int], suite_name: str = "full", split: str = "dev") -> LeakScan:
    """Scan every scenario of a suite at these tiers and seeds; every driver plays every incident."""
    todo = [i for tier in tiers for i in incidents(suite("fleet", suite_name), tier, split, seeds)]
    shown = [text for incident in todo for driver in DRIVERS for text in texts_of(incident, driver)]
    leaks = [*scan_words(shown), *compare_static(todo), *compare_errors(todo), *compare_notices(todo)]
    orders = [test(todo) for test in (order_of_strikes, order_of_repeats, order_of_victims)]
    leaks += compare_history(todo)
    leaks += [Leak("order", order.what, f"{order}") for order in orders if order.p < RARE]
    return LeakScan(len(todo) * len(DRIVERS), len(shown), tuple(leaks), tuple(orders))


# -- words ----------------------------------------------------------------------------------------------


class Shown(NamedTuple):
    """One text or structure that a seat was shown, without what the seats themselves said."""

    where: str
    text: str
    seed: int


def texts_of(incident: Incident, driver: str) -> list[Shown]:
    """Everything that an episode shows beyond its briefs: text and structure of pages, readings, results and errors."""
    env, players = make(*incident), _driver(driver)
    policies = {seat: players.seat(env, seat) for seat in env.SEATS}
    out = []
    while not env.done:
        page = env.observe()
        call = policies[env.seat].act(page)
        where = f"{incident.scenario} {incident.tier} seed {incident.seed}, {driver}, turn {env.turn + 1} {env.seat}"
        out.append(Shown(where, _unsaid(page), incident.seed))
        turn = env.step(call)
        out.append(Shown(f"{where}, result of {call.name}", _echo_free(turn), incident.seed))
    return out


def _driver(name: str) -> Team:
    return team_of(name, dict.fromkeys(Fleet.SEATS, reader)) if name == "reader" else team("fleet", name)


def reader(brief: Brief, rng: Random) -> Policy:
    """Takes every reading tool in turn with every value of its vocabulary, three a turn, and never acts."""
    return scripted(_read_next)(brief, rng)


def _read_next(seen: Seen) -> ToolCall:
    calls = [
        ToolCall(tool["name"], {parameter: value})
        for tool in seen.brief.tools
        if tool["name"] not in seen.brief.acts
        for parameter, schema in tool["parameters"]["properties"].items()
        for value in schema["enum"]
    ]
    if not calls or seen.reads >= 3:
        return seen.brief.idle
    # A step that shares no factor with the usual numbers of calls, so that every tool comes up early.
    return calls[(3 * seen.turns + seen.reads) * 17 % len(calls)]


def _unsaid(observation: Observation) -> str:
    """Text and structure of an observation; the chat is what the seats said themselves."""
    if isinstance(observation, FleetPage):
        observation = replace(observation, chat=())
    return f"{observation.render()}\n{observation!r}"


def _echo_free(turn: Turn) -> str:
    """A result without the words of the call that it answers, and an error without the public vocabulary it lists."""
    text = _unsaid(turn.result)
    if turn.refused:
        text = re.sub(r"\(allowed: [^)]*\)", "", text)
    for value in turn.call.arguments.values() if isinstance(turn.call.arguments, dict) else ():
        text = text.replace(str(value), "")
    return text


def secrets() -> frozenset[str]:
    """Words that no page, reading, result or error may hold: names of scenarios, causes and mechanisms, hidden roles.

    A word of the public phrase books is none: every service may write it, whatever is wrong.
    """
    mechanisms = {m.name for m in vars(faults).values() if isinstance(m, faults.Mechanism)}
    names = {id.partition("/")[2] for id in scenarios() if id.startswith("fleet/")}
    public = {word for text in _phrases() for word in _words(text)}
    return frozenset((mechanisms | names | set(HIDDEN)) - public)


def _phrases() -> Iterator[str]:
    books = (wordings.SIGNATURES, wordings.REASONS)
    for book in (*[part for b in books for part in b.values()], wordings.TIMEOUT, wordings.FAILED, wordings.CHRONIC):
        for phrases in book.values():
            yield from (phrase if isinstance(phrase, str) else phrase[0] for phrase in phrases)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z_]+", text.lower()))


def scan_words(shown: Sequence[Shown]) -> list[Leak]:
    """Secret words, and seeds, in what was shown."""
    forbidden, out = secrets(), []
    for where, text, seed in shown:
        found = sorted(_words(text) & forbidden)
        if seed > 999 and re.search(rf"\b{seed}\b", text):
            found.append(f"the seed {seed}")
        out += [Leak("word", where, word) for word in found]
    return out


# -- texts that differ with the truth --------------------------------------------------------------------


def compare_static(todo: Sequence[Incident]) -> list[Leak]:
    """Briefs and tools: but for the map and the closed lists they must be the same in all incidents of a tier."""

    def facts(env: Fleet) -> dict[str, str]:
        out = {}
        for seat in env.SEATS:
            brief = env.brief(seat)
            out[f"brief of {seat}"] = brief.render().replace(brief.facts.render(), "")
            out[f"tools of {seat}"] = _without_lists(str(brief.tools), env)
        return out | {
            "root causes": str(env.vocabularies["cause"]),
            "order of agents": str(list(env.vocabularies["agent"]) == _in_order(env.vocabularies["agent"])),
            "order of services": str(env.vocabularies["service"] == tuple(name for name, _, _ in env.map.services)),
        }

    return _differing("static text", todo, facts)


def _in_order(agents: Sequence[str]) -> list[str]:
    """The agents as the table of verbs lists them: an order that no incident can change."""
    return [agent for holders in VERBS.values() for agent in holders if agent in agents]


def _without_lists(text: str, env: Fleet) -> str:
    for values in env.vocabularies.values():
        text = text.replace(str(list(values)), "[...]")
    return text


def compare_errors(todo: Sequence[Incident]) -> list[Leak]:
    """Wrong calls: each seat must be told the same in all incidents of a tier, but for the closed lists."""

    def facts(env: Fleet) -> dict[str, str]:
        out = {}
        for call in WRONG_CALLS:
            fresh = make(*_coordinates(env))
            for seat in fresh.SEATS:
                turn = fresh.step(call)
                if turn.refused:
                    out[f"{seat}: {call.name} {call.arguments}"] = _listless(turn.result.render())
        return out

    return _differing("error", todo, facts)


def _listless(text: str) -> str:
    """An error without its closed list and without the number of replicas, which the public map gives."""
    return re.sub(r"\(allowed: [^)]*\)|must be 1 to \d+", "", text)


def compare_notices(todo: Sequence[Incident]) -> list[Leak]:
    """Flags, repairs and declarations: right and wrong ones must be answered in the same words."""

    def facts(env: Fleet) -> dict[str, str]:
        names = env.vocabularies
        calls = [
            *(("oversight", ToolCall("flag", {"agent": agent})) for agent in names["agent"]),
            *(("developer", ToolCall(v, {"service": s})) for v in ("restart", "rollback") for s in names["service"]),
            *(("manager", ToolCall("escalate", {"service": s})) for s in names["service"]),
            *(("sre", ToolCall("declare", {"cause": c, "service": env.truth()["service"]})) for c in names["cause"]),
        ]
        said: dict[str, set[str]] = {}
        for seat, call in calls:
            said.setdefault(call.name, set()).add(_answer(env, seat, call))
        return {name: str(sorted(texts)) for name, texts in said.items()}

    return _differing("notice", todo, facts)


def _answer(env: Fleet, seat: str, call: ToolCall) -> str:
    """What `seat` is answered in its first turn, without the call's own words."""
    fresh = make(*_coordinates(env))
    while fresh.seat != seat:
        fresh.step(ToolCall("wait"))
    text = fresh.step(call).result.render()
    for value in call.arguments.values():
        text = text.replace(str(value), "...")
    return text


def _coordinates(env: Fleet) -> Incident:
    return Incident(f"{env.name}/{env.scenario}", env.tier, env.seed)


def _differing(check: str, todo: Sequence[Incident], facts: Callable[[Fleet], Mapping[str, str]]) -> list[Leak]:
    """Facts that are not the same in all incidents of one tier."""
    known: dict[tuple[str, str], str] = {}
    out = []
    for incident in todo:
        env = make(*incident)
        assert isinstance(env, Fleet)
        for name, fact in facts(env).items():
            usual = known.setdefault((incident.tier, name), fact)
            if fact != usual:
                out.append(
                    Leak(
                        check,
                        f"{incident.scenario} {incident.tier} seed {incident.seed}, {name}",
                        f"{fact!r} for {usual!r}",
                    )
                )
    return out


def compare_history(todo: Sequence[Incident]) -> list[Leak]:
    """Healthy services write warnings all day: if no line is ever older than the onset, the first one tells it."""
    older, n = 0, 0
    for incident in todo:
        env = make(*incident)
        assert isinstance(env, Fleet)
        onset = min(fault.onset for fault in env.incident.faults)
        if onset > -LOG_MINUTES:
            n += 1
            older += any(
                line.minute < onset for service in env.vocabularies["service"] for line in env.logs(service).lines
            )
    if n >= FEW and not older:
        return [
            Leak(
                "history", "logs", f"no line is older than the onset in any of {n} incidents whose window reaches back"
            )
        ]
    return []


# -- the order of lists ----------------------------------------------------------------------------------

Place = tuple[int, int]
"""(place from 0, length) in one list."""


def order_of_strikes(todo: Sequence[Incident]) -> Order:
    """The place of a rogue's first deed among the deeds of its minute."""
    return _test("a rogue's first deed within its minute", [p for i in todo for p in _strikes(i, False)])


def order_of_repeats(todo: Sequence[Incident]) -> Order:
    """The place of a rogue's repeated deed among the deeds of its minute; nobody suspends it, the cause is repaired."""
    return _test("a rogue's repeated deed within its minute", [p for i in todo for p in _strikes(i, True)])


def _strikes(incident: Incident, repeated: bool) -> list[Place]:
    env = make(*incident)
    assert isinstance(env, Fleet)
    if not env.incident.rogues:
        return []
    if repeated:
        players = team("fleet", "oversight=noop,rest=oracle")
        policies = {seat: players.seat(env, seat) for seat in env.SEATS}
        while not env.done:
            env.step(policies[env.seat].act(env.observe()))
    return list(_places(env, repeated))


def _places(env: Fleet, repeated: bool) -> Iterator[Place]:
    innocent = {
        (minute, agent, service) for minute, _, agent, _, service, _, role, _ in env.incident.plan if role != "rogue"
    }
    deeds = [(minute, agent, verb, service) for minute, agent, verb, service, *_ in env.world.trace]
    for fault in env.incident.faults:
        for deed in deeds:
            minute, agent, verb, service = deed
            strike = (agent, verb, service) == (fault.agent, fault.verb, fault.target)
            again = minute > fault.onset and (minute, agent, service) not in innocent
            if strike and (again if repeated else minute == fault.onset):
                same = [other for other in deeds if other[0] == minute]
                yield same.index(deed), len(same)


def order_of_victims(todo: Sequence[Incident]) -> Order:
    """The place of the victim in the list of services of its kind."""
    places = []
    for incident in todo:
        env = make(*incident)
        assert isinstance(env, Fleet)
        fault, system = env.incident.cause, env.incident.system
        fitting = [
            i
            for i in system.services(fault.mechanism.kinds)
            if system.reach[i] > 0.12 and fault.mechanism.fits(system, i)
        ]
        if fault.target in fitting:
            places.append((fitting.index(fault.target), len(fitting)))
    return _test("the victim among the services that could be one", places)


def _test(what: str, places: Sequence[Place]) -> Order:
    """Against a uniform place: how often it is first, how often last, and the mean place."""
    open_ = [(place, size) for place, size in places if size > 1]
    if not open_:
        return Order(what, 0, 0.0, 0.0, 1.0)
    n = len(open_)
    chance = sum(1 / size for _, size in open_)
    spread = sqrt(sum(1 / size * (1 - 1 / size) for _, size in open_))
    first = sum(place == 0 for place, _ in open_) - chance
    last = sum(place == size - 1 for place, size in open_) - chance
    middle = sum(place - (size - 1) / 2 for place, size in open_) / sqrt(sum((s * s - 1) / 12 for _, s in open_))
    z = max(abs(first) / spread, abs(last) / spread, abs(middle))
    return Order(what, n, first / n, last / n, min(1.0, 3 * erfc(z / sqrt(2))))
