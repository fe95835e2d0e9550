"""The laws of the shorthand: a closed vocabulary, calls that come back as they went, nothing that the page lacks."""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warroom.core.env import Env
from warroom.core.language import Lexicon
from warroom.core.splits import seed_of
from warroom.core.types import Observation, ToolCall
from warroom.envs import environments, make
from warroom.envs.fleet.shorthand import REPAIRS, Shorthand
from warroom.envs.fleet.views import FleetPage, LogsReading, Message, MetricsReading, RecordReading, TracesReading
from warroom.policies import team
from warroom.sim.automation import AGENTS

GAMES = [
    ("fleet/rogue_deploy_bot", "hard"), ("fleet/cascade", "medium"), ("fleet/traffic_surge", "hard"),
    ("fleet/autoscaler_cost_cut", "easy"), ("fleet/innocent_suspect", "hard"), ("fleet/no_incident", "medium"),
    ("fleet/network_delay", "hard"), ("fleet/bad_config_push", "medium"),
]  # fmt: skip
TEAMS = ("expert", "heuristic", "keyword", "random")
READINGS = ("metrics", "logs", "traces", "record", "pushes")
Seen = tuple[Env, str, Shorthand, Observation, str, ToolCall]
"""Episode, seat, its shorthand, what it was shown, that in shorthand, and what it called then."""


def lexicon() -> Lexicon:
    make_lexicon = environments()["fleet"].lexicon
    assert make_lexicon is not None
    return make_lexicon()


def played(env: Env, name: str, curious: bool = False) -> Iterator[Seen]:
    """A whole incident. Curious seats often read whatever they may first, and then do what they meant to."""
    chosen, rng = team("fleet", name), Random(f"{env.scenario} {env.seed}")
    policies = {seat: chosen.seat(env, seat) for seat in env.SEATS}
    languages = {seat: Shorthand(env.brief(seat)) for seat in env.SEATS}
    meant: ToolCall | None = None
    while not env.done:
        seat, observation = env.seat, env.observe()
        text = languages[seat].show(observation)
        call = meant or policies[seat].act(observation)
        if env.reads == 0:
            readings = _readings(env, seat) if curious and rng.random() < 0.5 else []
            meant = (env.brief(seat).idle if call.name in READINGS else call) if readings else None
        if meant and env.reads < env.READS_PER_TURN:
            call = _drawn(rng.choice(readings), rng)
        elif meant:
            meant = None
        yield env, seat, languages[seat], observation, text, call
        env.step(call)


def _readings(env: Env, seat: str) -> list[dict[str, Any]]:
    return [tool for tool in env.brief(seat).tools if tool["name"] in READINGS]


def _drawn(tool: dict[str, Any], rng: Random) -> ToolCall:
    properties = tool["parameters"]["properties"]
    return ToolCall(tool["name"], {name: rng.choice(field["enum"]) for name, field in properties.items()})


def games(split: str = "dev") -> Iterator[Env]:
    for number, (scenario, tier) in enumerate(GAMES):
        yield make(scenario, tier, seed_of(split, number))


def without_names(language: Shorthand, text: str) -> list[str]:
    """The words with services by their place on the map."""
    place = {slot: f"#{number}" for number, slot in enumerate(language.slot.values())}
    return [place.get(word, word) for word in text.split()]


# -- what is read -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEAMS)
def test_every_word_that_is_shown_is_in_the_lexicon(name: str) -> None:
    words, kinds = set(lexicon().words), set()
    for env in (env for split in ("train", "test") for env in games(split)):
        for _, seat, language, observation, text, _ in played(env, name, curious=True):
            kinds.add(type(observation).__name__)
            strange = set(text.split()) - words
            assert not strange, (env.scenario, seat, strange)
            assert set(language.opening().split()) <= words
    assert {"FleetPage", "MetricsReading", "LogsReading", "TracesReading", "RecordReading", "ChangesReading"} <= kinds


def test_it_depends_on_nothing_but_the_brief_and_what_was_shown() -> None:
    for env in games():
        twins = {seat: Shorthand(env.brief(seat)) for seat in env.SEATS}
        for _, seat, _, observation, text, _ in played(env, "expert", curious=True):
            assert twins[seat].show(observation) == text


def test_other_names_for_the_services_change_the_slots_and_nothing_else() -> None:
    for env in games():
        names = [name for name in env.vocabularies["service"] if name != "gateway"]  # which is a kind as well
        new = {name: f"other-{number}" for number, name in enumerate(names)}
        twins = {}
        for seat in env.SEATS:
            brief = env.brief(seat)
            twins[seat] = Shorthand(replace(brief, facts=renamed(brief.facts, new)))
        for _, seat, language, observation, text, _ in played(env, "expert", curious=True):
            said = twins[seat].show(renamed(observation, new))
            assert without_names(twins[seat], said) == without_names(language, text)


def renamed(value: Any, new: dict[str, str]) -> Any:
    """The same with other names wherever a text holds one."""
    if isinstance(value, str):
        return re.sub(r"[\w-]+", lambda word: new.get(word[0], word[0]), value)
    if isinstance(value, tuple):
        parts = [renamed(part, new) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if is_dataclass(value):
        return replace(value, **{field.name: renamed(getattr(value, field.name), new) for field in fields(value)})
    return value


def test_it_tells_no_number_finer_than_the_text_of_the_page() -> None:
    for env in games():
        twins = {seat: Shorthand(env.brief(seat)) for seat in env.SEATS}
        for _, seat, _, observation, text, _ in played(env, "heuristic", curious=True):
            assert twins[seat].show(as_written(observation)) == text


def as_written(observation: Observation) -> Observation:
    """The observation with the numbers that its text shows, and without what the shorthand leaves out."""
    if isinstance(observation, MetricsReading):
        rows = tuple(
            row._replace(p95=float(f"{row.p95:.0f}"), error=float(f"{row.error:.1f}")) for row in observation.rows
        )
        return replace(observation, rows=rows)
    if isinstance(observation, TracesReading):
        return replace(observation, outgoing=_calls(observation.outgoing), incoming=_calls(observation.incoming))
    if isinstance(observation, RecordReading):
        return replace(observation, actions=tuple(action._replace(reason="") for action in observation.actions))
    if isinstance(observation, LogsReading):
        return replace(observation, lines=tuple(line._replace(text="") for line in observation.lines))
    if not isinstance(observation, FleetPage):
        return observation
    rows = observation.services and tuple(
        row if row.error is None else row._replace(
            p95=float(f"{row.p95:.0f}"), usual_p95=float(f"{row.usual_p95:.0f}"), error=float(f"{row.error:.1f}")
        )
        for row in observation.services
    )  # fmt: skip
    return replace(observation, services=rows, logs=(), log_counts=None)


def _calls(calls: Any) -> Any:
    return tuple(
        call._replace(per_request=float(f"{call.per_request:.2f}"), usual=float(f"{call.usual:.2f}")) for call in calls
    )


def test_slots_are_dealt_anew_with_other_names() -> None:
    dealt = [tuple(Shorthand(env.brief("sre")).slot.values())[:8] for env in games()]
    assert len(set(dealt)) == len(dealt)


# -- what is said -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["expert", "heuristic"])
def test_a_call_comes_back_as_it_was_put(name: str) -> None:
    words, tools = set(lexicon().words), set()
    for env in games():
        for *_, language, _, _, call in played(env, name):
            tool, arguments = language.phrase(call)
            back = language.understand(tool, arguments)
            assert set(arguments["line"].split()) <= words
            assert (back.name, language.phrase(back)) == (call.name, (tool, arguments))
            for key in ("service", "cause", "agent"):
                assert back.arguments.get(key) == call.arguments.get(key)
            assert ("replicas" in back.arguments) == ("replicas" in call.arguments)
            tools.add(tool)
    assert {"declare", "wait", "metrics", "restart", "scale"} <= tools


def test_what_is_said_in_shorthand_is_understood_by_the_scripts() -> None:
    """A team whose every call went through the shorthand plays like the team itself, up to the size of a scale."""
    scores = []
    for through in (False, True):
        for env in games():
            for _, _, language, _, _, call in played(env, "expert"):
                if through:
                    call.arguments.update(language.understand(*language.phrase(call)).arguments)
            scores.append(env.score())
    assert sum(scores[len(GAMES) :]) > sum(scores[: len(GAMES)]) - 0.5


ANYTHING = st.one_of(st.text(max_size=8), st.sampled_from(("gateway", "s1", "db_deadlock", "99", "at", "restart", ";")))
SENTENCES = st.one_of(
    ANYTHING,
    st.builds("look at {}".format, ANYTHING),
    st.builds("cause {} at {}".format, ANYTHING, ANYTHING),
    st.builds("{} {} {} to {}".format, st.sampled_from(("do", "done")), st.sampled_from(REPAIRS), ANYTHING, ANYTHING),
    st.sampled_from(("still bad", "all well")),
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(SENTENCES, max_size=5).map("; ".join))
def test_what_a_colleague_says_in_other_words_is_left_out(said: str) -> None:
    env = make("fleet/db_deadlock", "easy", seed_of("dev", 0))
    page = env.observe()
    assert isinstance(page, FleetPage)
    message = Message(1, "developer", said)
    shown = Shorthand(env.brief("sre")).show(replace(page, chat=(message,)))
    assert set(shown.split()) <= set(lexicon().words)


@pytest.mark.parametrize("tool", ["declare", "flag", *REPAIRS])
@pytest.mark.parametrize("line", ["", "gibberish", "s47 s47 s47", "cause cause", "@3 T5 err! person", "<unk> <unk>"])
def test_nonsense_is_passed_on_and_costs_its_turn(tool: str, line: str) -> None:
    env = make("fleet/db_deadlock", "easy", seed_of("dev", 0))
    while tool not in {schema["name"] for schema in env.brief(env.seat).tools}:
        env.step(ToolCall("wait"))
    seat, turn = env.seat, env.turn
    done = env.step(Shorthand(env.brief(seat)).understand(tool, {"line": line}))
    assert done.refused and env.seat != seat and env.turn == turn + 1


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=60), st.text(max_size=12))
def test_any_line_of_any_tool_is_understood_as_some_call(line: str, tool: str) -> None:
    language = Shorthand(make("fleet/db_deadlock", "easy", seed_of("dev", 0)).brief("sre"))
    for name in (tool, "declare", "scale", "wait", "flag", "metrics"):
        assert language.understand(name, {"line": line}).name == name
        assert language.understand(name, {tool: line}).name == name


# -- changes and the minute in which trouble began ------------------------------------------------------------


def test_a_change_is_marked_exactly_if_trouble_was_told_to_begin_in_its_minute() -> None:
    """By an alert on its service, else on a caller: both minutes stand in the text of the pages."""
    marks = dict.fromkeys(("began", "above", ""), 0)
    for env in games():
        onsets: dict[tuple[str, str], set[int]] = {}
        for _, seat, language, seen, text, _ in played(env, "expert", curious=True):
            if isinstance(seen, FleetPage):
                for alert in seen.alerts or ():
                    if alert.rule in ("error rate", "latency"):
                        onsets.setdefault((seat, alert.service), set()).add(alert.minute)
            if isinstance(seen, MetricsReading):
                own = onsets.get((seat, seen.service), set())
                above = {m for caller in language.callers[seen.service] for m in onsets.get((seat, caller), ())}
                for minute, mark in changes(text, language.slot[seen.service]):
                    assert mark == ("began" if minute in own else "above" if minute in above else "")
                    marks[mark] += 1
    assert all(marks.values()), marks


def changes(text: str, slot: str) -> Iterator[tuple[int, str]]:
    """Minute and mark of each change that is told of a service."""
    words = text.split()
    for place, word in enumerate(words):
        if word.startswith("@"):
            of, minute = words[place - 1], int(word[1:])
        if word in (*AGENTS, "person") and of == slot:
            yield minute, words[place - 1] if words[place - 1] in ("began", "above") else ""


def test_a_cache_that_was_changed_a_minute_before_its_store_suffered_is_told_beside_the_store() -> None:
    told = 0
    for number in range(12):
        env = make("fleet/cache_janitor_flush", "medium", seed_of("dev", number))
        for _, seat, language, seen, text, _ in played(env, "expert"):
            if seat == "oversight" and isinstance(seen, MetricsReading) and "before" in text.split():
                words = text.split()
                cache = language.name[words[words.index("before") - 2]]
                assert language.kind[cache] == "cache" and seen.service in language.callees[cache]
                told += 1
    assert told > 6
