"""The leak scanner: plays whole episodes and looks for what only the truth knows in whatever the seats are shown.

Words are one way to leak; so are texts that differ with the truth, and the order of lists. What is secret, what is
public and which answers must be alike is declared by each environment.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from warroom.core.env import Env
from warroom.core.scenario import PolicyMaker
from warroom.core.splits import seed_in_words
from warroom.core.types import Observation, ToolCall, Turn
from warroom.envs import make, suite
from warroom.evals.orders import Order
from warroom.evals.outcomes import Incident, incidents
from warroom.evals.recipes import blind, team_of
from warroom.policies import Team, team

RARE = 1e-4
"""p below which an order counts as telling; a scan makes a handful of tests."""
READER = "reader"


class Leak(NamedTuple):
    """Something that a seat is shown and must not be."""

    check: str
    where: str
    detail: str


@dataclass(frozen=True)
class LeakRules:
    """What an environment keeps secret, and how to look for it."""

    secrets: Callable[[], frozenset[str]]
    """Words that no page, reading, result or error may hold; whatever its services may write at any time is none."""
    drivers: tuple[str, ...]
    """Shipped policies that play the scanned episodes."""
    reader: PolicyMaker
    """Plays them once more, and reads whatever can be read."""
    unsaid: Callable[[Observation], Observation]
    """An observation without what the seats themselves said."""
    wrong_calls: tuple[ToolCall, ...]
    """Calls that are wrong for at least one seat."""
    public: Callable[[str, Env], str]
    """A brief, tools or an error without what may differ from incident to incident."""
    judged: Callable[[Env], Iterable[tuple[str, ToolCall]]]
    """(seat, call): right or wrong, they must be answered alike."""
    orders: tuple[Callable[[Sequence[Incident]], Order], ...] = ()
    """Places of things that only the truth knows."""
    further: tuple[Callable[[Sequence[Incident]], list[Leak]], ...] = ()
    """Checks of the environment's own."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What incidents are built from besides."""

    def make(self, incident: Incident) -> Env:
        """A fresh env of an incident."""
        return make(*incident, **self.options)


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


def scan_leaks(
    rules: LeakRules, env: str, tiers: Sequence[str], seeds: Sequence[int], suite_name: str = "full", split: str = "dev"
) -> LeakScan:
    """Scan every scenario of a suite at these tiers and seeds; every driver plays every incident."""
    todo = [i for tier in tiers for i in incidents(suite(env, suite_name), tier, split, seeds)]
    drivers = (*rules.drivers, READER)
    shown = [text for incident in todo for driver in drivers for text in texts_of(rules, incident, driver)]
    checks = (compare_static, compare_errors, compare_notices)
    leaks = [*scan_words(rules, shown), *[leak for check in checks for leak in check(rules, todo)]]
    leaks += [leak for check in rules.further for leak in check(todo)]
    orders = [test(todo) for test in rules.orders]
    leaks += [Leak("order", order.what, f"{order}") for order in orders if order.p < RARE]
    return LeakScan(len(todo) * len(drivers), len(shown), tuple(leaks), tuple(orders))


# -- words ----------------------------------------------------------------------------------------------


class Shown(NamedTuple):
    """One text or structure that a seat was shown, without what the seats themselves said."""

    where: str
    text: str
    seed: int


def texts_of(rules: LeakRules, incident: Incident, driver: str) -> list[Shown]:
    """Everything that an episode shows beyond its briefs: text and structure of pages, readings, results and errors."""
    env = rules.make(incident)
    players = _driver(rules, env, driver)
    policies = {seat: players.seat(env, seat) for seat in env.SEATS}
    out = []
    while not env.done:
        page = env.observe()
        call = policies[env.seat].act(page)
        which = f"{incident.scenario} {incident.tier} {seed_in_words(incident.seed)}"
        where = f"{which}, {driver}, turn {env.turn + 1} {env.seat}"
        out.append(Shown(where, _unsaid(rules, page), incident.seed))
        turn = env.step(call)
        out.append(Shown(f"{where}, result of {call.name}", _echo_free(rules, turn), incident.seed))
    return out


def _driver(rules: LeakRules, env: Env, name: str) -> Team:
    if name == READER:
        return team_of(name, env.SEATS, dict.fromkeys(env.SEATS, blind(rules.reader)))
    return team(env.name, name)


def _unsaid(rules: LeakRules, observation: Observation) -> str:
    """Text and structure of an observation, without what the seats said themselves."""
    observation = rules.unsaid(observation)
    return f"{observation.render()}\n{observation!r}"


def _echo_free(rules: LeakRules, turn: Turn) -> str:
    """A result without the words of the call that it answers, and an error without the public vocabulary it lists."""
    text = _unsaid(rules, turn.result)
    return without_call(listless(text) if turn.refused else text, turn.call, "")


def listless(text: str) -> str:
    """An error without its closed list."""
    return re.sub(r"\(allowed: [^)]*\)", "", text)


def without_call(text: str, call: ToolCall, instead: str) -> str:
    """A text without the words of a call."""
    for value in call.arguments.values() if isinstance(call.arguments, dict) else ():
        text = text.replace(str(value), instead)
    return text


def words_of(text: str) -> set[str]:
    """The words of a text; a level such as P1 is one."""
    return set(re.findall(r"\bp\d\b|[a-z_]+", text.lower()))


def scan_words(rules: LeakRules, shown: Sequence[Shown]) -> list[Leak]:
    """Secret words, and seeds, in what was shown."""
    forbidden, out = rules.secrets(), []
    for where, text, seed in shown:
        found = sorted(words_of(text) & forbidden)
        if seed > 999 and re.search(rf"\b{seed}\b", text):
            found.append(f"the seed {seed}")
        out += [Leak("word", where, word) for word in found]
    return out


# -- texts that differ with the truth --------------------------------------------------------------------


def compare_static(rules: LeakRules, todo: Sequence[Incident]) -> list[Leak]:
    """Briefs and tools: but for what is public of an incident they must be the same in all incidents of a tier."""

    def facts(env: Env) -> dict[str, str]:
        briefs = {seat: env.brief(seat) for seat in env.SEATS}
        return {
            **{f"brief of {seat}": rules.public(brief.render(), env) for seat, brief in briefs.items()},
            **{f"tools of {seat}": rules.public(str(brief.tools), env) for seat, brief in briefs.items()},
        }

    return differing("static text", todo, facts, rules.options)


def compare_errors(rules: LeakRules, todo: Sequence[Incident]) -> list[Leak]:
    """Wrong calls: each seat must be told the same in all incidents of a tier, but for the closed lists."""

    def facts(env: Env) -> dict[str, str]:
        out = {}
        for call in rules.wrong_calls:
            fresh = rules.make(coordinates(env))
            for seat in fresh.SEATS:
                turn = fresh.step(call)
                if turn.refused:
                    out[f"{seat}: {call.name} {call.arguments}"] = rules.public(listless(turn.result.render()), env)
        return out

    return differing("error", todo, facts, rules.options)


def compare_notices(rules: LeakRules, todo: Sequence[Incident]) -> list[Leak]:
    """Declarations and deeds: right and wrong ones must be answered in the same words."""

    def facts(env: Env) -> dict[str, str]:
        said: dict[str, set[str]] = {}
        for seat, call in rules.judged(env):
            said.setdefault(call.name, set()).add(_answer(rules, env, seat, call))
        return {name: str(sorted(texts)) for name, texts in said.items()}

    return differing("notice", todo, facts, rules.options)


def _answer(rules: LeakRules, env: Env, seat: str, call: ToolCall) -> str:
    """What `seat` is answered in its first turn, without the call's own words."""
    fresh = rules.make(coordinates(env))
    while fresh.seat != seat:
        fresh.step(fresh.brief(fresh.seat).idle)
    return without_call(fresh.step(call).result.render(), call, "...")


def coordinates(env: Env) -> Incident:
    """The incident that an env was made of."""
    return Incident(f"{env.name}/{env.scenario}", env.tier, env.seed)


def differing(
    check: str,
    todo: Sequence[Incident],
    facts: Callable[[Env], Mapping[str, str]],
    options: Mapping[str, Any] | None = None,
) -> list[Leak]:
    """Facts that are not the same in all incidents of one tier."""
    known: dict[tuple[str, str], str] = {}
    out = []
    for incident in todo:
        for name, fact in facts(make(*incident, **(options or {}))).items():
            usual = known.setdefault((incident.tier, name), fact)
            if fact != usual:
                where = f"{incident.scenario} {incident.tier} {seed_in_words(incident.seed)}, {name}"
                out.append(Leak(check, where, f"{fact!r} for {usual!r}"))
    return out
