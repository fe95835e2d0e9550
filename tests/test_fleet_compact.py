"""The laws of the compact rendering: a closed vocabulary, calls that round-trip, nothing that the page lacks."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warroom.envs.fleet.compact import REPAIRS, FleetCompactRenderer
from warroom.envs.fleet.views import (
    ChatMessage,
    FleetObservation,
    LogsResult,
    MetricsResult,
    RecordResult,
    TracesResult,
)

from renaming import renamed
from warroom.core.env import Env
from warroom.core.renderer import Vocab
from warroom.core.splits import seed_of
from warroom.core.types import Observation, ToolCall
from warroom.envs import environments, make
from warroom.policies import policy_set
from warroom.sim.automation import AGENTS

GAMES = [
    ("fleet/rogue_deploy_bot", "hard"), ("fleet/cascade", "medium"), ("fleet/traffic_surge", "hard"),
    ("fleet/autoscaler_cost_cut", "easy"), ("fleet/innocent_suspect", "hard"), ("fleet/no_incident", "medium"),
    ("fleet/network_delay", "hard"), ("fleet/bad_config_push", "medium"),
]  # fmt: skip
TEAMS = ("expert", "heuristic", "keyword", "random")
READINGS = ("metrics", "logs", "traces", "record", "pushes")
Seen = tuple[Env, str, FleetCompactRenderer, Observation, str, ToolCall]
"""Episode, seat, its compact rendering, what it was shown, that in the compact rendering, and what it called then."""


def compact_vocab() -> Vocab:
    make_vocab = environments()["fleet"].compact_vocab
    assert make_vocab is not None
    return make_vocab()


def played(env: Env, name: str, curious: bool = False) -> Iterator[Seen]:
    """A whole incident. Curious seats often read whatever they may first, and then do what they meant to."""
    chosen, rng = policy_set("fleet", name), Random(f"{env.scenario} {env.seed}")
    policies = {seat: chosen.seat(env, seat) for seat in env.SEATS}
    renderers = {seat: FleetCompactRenderer(env.brief(seat)) for seat in env.SEATS}
    meant: ToolCall | None = None
    while not env.done:
        seat, observation = env.seat, env.observe()
        text = renderers[seat].render_observation(observation)
        call = meant or policies[seat].act(observation)
        if env.reads == 0:
            readings = _readings(env, seat) if curious and rng.random() < 0.5 else []
            meant = (env.brief(seat).noop_call if call.name in READINGS else call) if readings else None
        if meant and env.reads < env.READS_PER_TURN:
            call = _drawn(rng.choice(readings), rng)
        elif meant:
            meant = None
        yield env, seat, renderers[seat], observation, text, call
        env.step(call)


def _readings(env: Env, seat: str) -> list[dict[str, Any]]:
    return [tool for tool in env.brief(seat).tools if tool["name"] in READINGS]


def _drawn(tool: dict[str, Any], rng: Random) -> ToolCall:
    properties = tool["parameters"]["properties"]
    return ToolCall(tool["name"], {name: rng.choice(field["enum"]) for name, field in properties.items()})


def games(split: str = "dev") -> Iterator[Env]:
    for number, (scenario, tier) in enumerate(GAMES):
        yield make(scenario, tier, seed_of(split, number))


def without_names(renderer: FleetCompactRenderer, text: str) -> list[str]:
    """The words with services by their place on the map."""
    place = {slot: f"#{number}" for number, slot in enumerate(renderer.slot.values())}
    return [place.get(word, word) for word in text.split()]


# -- what is read -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEAMS)
def test_every_word_that_is_shown_is_in_the_lexicon(name: str) -> None:
    words, kinds = set(compact_vocab().words), set()
    for env in (env for split in ("train", "test") for env in games(split)):
        for _, seat, renderer, observation, text, _ in played(env, name, curious=True):
            kinds.add(type(observation).__name__)
            strange = set(text.split()) - words
            assert not strange, (env.scenario, seat, strange)
            assert set(renderer.opening().split()) <= words
    assert {"FleetObservation", "MetricsResult", "LogsResult", "TracesResult", "RecordResult", "ChangesResult"} <= kinds


def test_it_depends_on_nothing_but_the_brief_and_what_was_shown() -> None:
    for env in games():
        twins = {seat: FleetCompactRenderer(env.brief(seat)) for seat in env.SEATS}
        for _, seat, _, observation, text, _ in played(env, "expert", curious=True):
            assert twins[seat].render_observation(observation) == text


def test_other_names_for_the_services_change_the_slots_and_nothing_else() -> None:
    for env in games():
        names = [name for name in env.allowed_values["service"] if name != "gateway"]  # which is a kind as well
        new = {name: f"other-{number}" for number, name in enumerate(names)}
        twins = {}
        for seat in env.SEATS:
            brief = env.brief(seat)
            twins[seat] = FleetCompactRenderer(replace(brief, facts=renamed(brief.facts, new)))
        for _, seat, renderer, observation, text, _ in played(env, "expert", curious=True):
            said = twins[seat].render_observation(renamed(observation, new))
            assert without_names(twins[seat], said) == without_names(renderer, text)


def test_it_tells_no_number_finer_than_the_text_of_the_page() -> None:
    for env in games():
        twins = {seat: FleetCompactRenderer(env.brief(seat)) for seat in env.SEATS}
        for _, seat, _, observation, text, _ in played(env, "heuristic", curious=True):
            assert twins[seat].render_observation(as_written(observation)) == text


def as_written(observation: Observation) -> Observation:
    """The observation with the numbers that its text shows, and without what the compact rendering leaves out."""
    if isinstance(observation, MetricsResult):
        rows = tuple(
            row._replace(p95=float(f"{row.p95:.0f}"), error=float(f"{row.error:.1f}")) for row in observation.rows
        )
        return replace(observation, rows=rows)
    if isinstance(observation, TracesResult):
        return replace(observation, outgoing=_calls(observation.outgoing), incoming=_calls(observation.incoming))
    if isinstance(observation, RecordResult):
        return replace(observation, actions=tuple(action._replace(reason="") for action in observation.actions))
    if isinstance(observation, LogsResult):
        return replace(observation, lines=tuple(line._replace(text="") for line in observation.lines))
    if not isinstance(observation, FleetObservation):
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
    dealt = [tuple(FleetCompactRenderer(env.brief("sre")).slot.values())[:8] for env in games()]
    assert len(set(dealt)) == len(dealt)


# -- what is said -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["expert", "heuristic"])
def test_a_call_comes_back_as_it_was_put(name: str) -> None:
    words, tools = set(compact_vocab().words), set()
    for env in games():
        for *_, renderer, _, _, call in played(env, name):
            tool, arguments = renderer.format_call(call)
            back = renderer.parse_call(tool, arguments)
            assert set(arguments["line"].split()) <= words
            assert (back.name, renderer.format_call(back)) == (call.name, (tool, arguments))
            for key in ("service", "cause", "agent"):
                assert back.arguments.get(key) == call.arguments.get(key)
            assert ("replicas" in back.arguments) == ("replicas" in call.arguments)
            tools.add(tool)
    assert {"declare", "wait", "metrics", "restart", "scale"} <= tools


def test_what_is_said_in_the_compact_rendering_is_understood_by_the_scripts() -> None:
    """A team whose calls all go through the compact rendering plays like itself, up to the size of a scale."""
    scores = []
    for through in (False, True):
        for env in games():
            for _, _, renderer, _, _, call in played(env, "expert"):
                if through:
                    call.arguments.update(renderer.parse_call(*renderer.format_call(call)).arguments)
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
    assert isinstance(page, FleetObservation)
    message = ChatMessage(1, "developer", said)
    shown = FleetCompactRenderer(env.brief("sre")).render_observation(replace(page, chat=(message,)))
    assert set(shown.split()) <= set(compact_vocab().words)


@pytest.mark.parametrize("tool", ["declare", "flag", *REPAIRS])
@pytest.mark.parametrize("line", ["", "gibberish", "s47 s47 s47", "cause cause", "@3 T5 err! person", "<unk> <unk>"])
def test_nonsense_is_passed_on_and_costs_its_turn(tool: str, line: str) -> None:
    env = make("fleet/db_deadlock", "easy", seed_of("dev", 0))
    while tool not in {schema["name"] for schema in env.brief(env.seat).tools}:
        env.step(ToolCall("wait"))
    seat, turn = env.seat, env.turn
    done = env.step(FleetCompactRenderer(env.brief(seat)).parse_call(tool, {"line": line}))
    assert done.refused and env.seat != seat and env.turn == turn + 1


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=60), st.text(max_size=12))
def test_any_line_of_any_tool_is_understood_as_some_call(line: str, tool: str) -> None:
    renderer = FleetCompactRenderer(make("fleet/db_deadlock", "easy", seed_of("dev", 0)).brief("sre"))
    for name in (tool, "declare", "scale", "wait", "flag", "metrics"):
        assert renderer.parse_call(name, {"line": line}).name == name
        assert renderer.parse_call(name, {tool: line}).name == name


# -- changes and the minute in which trouble began ------------------------------------------------------------


def test_a_change_is_marked_exactly_if_trouble_was_told_to_begin_in_its_minute() -> None:
    """By an alert on its service, else on a caller: both minutes stand in the text of the pages."""
    marks = dict.fromkeys(("began", "above", ""), 0)
    for env in games():
        onsets: dict[tuple[str, str], set[int]] = {}
        for _, seat, renderer, seen, text, _ in played(env, "expert", curious=True):
            if isinstance(seen, FleetObservation):
                for alert in seen.alerts or ():
                    if alert.rule in ("error rate", "latency"):
                        onsets.setdefault((seat, alert.service), set()).add(alert.minute)
            if isinstance(seen, MetricsResult):
                own = onsets.get((seat, seen.service), set())
                above = {m for caller in renderer.callers[seen.service] for m in onsets.get((seat, caller), ())}
                for minute, mark in changes(text, renderer.slot[seen.service]):
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
        for _, seat, renderer, seen, text, _ in played(env, "expert"):
            if seat == "oversight" and isinstance(seen, MetricsResult) and "before" in text.split():
                words = text.split()
                cache = renderer.name[words[words.index("before") - 2]]
                assert renderer.kind[cache] == "cache" and seen.service in renderer.callees[cache]
                told += 1
    assert told > 6
