"""The page: matches and their HTML by themselves, then the real page in a real browser."""

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from browser import launched, new_page
from command import refused, refused_without
from llm_peer import Peer, calls, fails
from warroom.core.scene import Node, Scene, Section
from warroom.core.spec import EpisodeSpec
from warroom.core.splits import seed_of
from warroom.core.types import ToolCall
from warroom.envs import episode_spec
from warroom.view.ui import form, pages, waterfall
from warroom.view.ui.drawing import Drawing, draw
from warroom.view.ui.lobby import Lobby, Visit
from warroom.view.ui.match import Match, Setup, merge_scenes, playable
from warroom.view.ui.policy_choice import PERSON, AllowedPolicies

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLEET = "fleet/autoscaler_cost_cut"
SEATS = ("sre", "oversight", "developer", "manager")
PATIENCE = 120_000
"""Milliseconds that a busy machine may take for anything."""
NASTY = """<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>${window.hacked=1}{{window.hacked=1}}"""


def fleet(**seats: str) -> Match:
    return Match(Setup(incident(FLEET, "hard"), seats=dict.fromkeys(SEATS, "expert") | seats))


def finished(match: Match) -> Match:
    for _ in match.play("end"):
        pass
    return match


def whole(drawing: Drawing) -> str:
    return "".join(drawing)


# -- matches ----------------------------------------------------------------------------------------


def incident(scenario: str, tier: str = "easy") -> EpisodeSpec:
    return episode_spec(scenario, tier, seed_of("dev", 0))


def test_a_match_moves_a_call_a_turn_or_to_the_end() -> None:
    match = fleet()
    list(match.play("call"))
    assert (len(match.steps), match.env.turn) == (1, 0)
    list(match.play("turn"))
    assert match.env.turn == 1
    assert finished(match).done
    assert len(match.frames) == len(match.steps) + 1


def test_a_match_plays_what_the_episode_loop_plays() -> None:
    from warroom.core.splits import seed_of
    from warroom.policies import policy_set
    from warroom.rollout import play

    known = play(episode_spec(FLEET, "hard", seed_of("dev", 0)), policy_set("fleet", "expert"))
    assert finished(fleet()).episode.trajectory_hash == known.trajectory_hash


def test_a_stop_ends_a_run_after_the_call_that_is_being_made() -> None:
    match = fleet()
    for _ in match.play("end"):
        match.stopping = True
    assert len(match.steps) == 1
    assert finished(match).done


def test_while_one_play_goes_on_another_does_nothing() -> None:
    match = fleet()
    running = match.play("end")
    next(running)
    assert list(match.play("end")) == []
    running.close()
    assert not match.playing


def test_a_match_can_be_looked_at_while_a_call_is_being_made() -> None:
    match, wrong = fleet(), list[Exception]()
    looking = Thread(target=_look_on, args=(match, wrong))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # threads meet everywhere
    try:
        looking.start()
        finished(match)
    finally:
        sys.setswitchinterval(before)
        looking.join()
    assert wrong == [] and len(match.episode.steps) == len(match.frames) - 1


def _look_on(match: Match, wrong: list[Exception]) -> None:
    while not match.done and not wrong:
        try:
            draw(match)
        except Exception as error:
            wrong.append(error)


def test_a_person_sees_its_own_pages_alone_until_the_end() -> None:
    match = fleet(manager=PERSON)
    list(match.play("end"))
    assert match.env.seat == "manager" and match.visibility() == ("manager", False)
    shown = draw(match)
    assert "root cause" not in shown.graph and "traces" not in shown.conversation and "points" not in shown.status
    assert shown.debrief == "" and "rogue" not in shown.sections
    assert "root cause" in draw(match, spoilers=True).graph
    while not match.done:
        match.submit(ToolCall("resolve" if match.env.turn > 6 else "wait"))
        list(match.play("end"))
    assert "traces" in draw(match).conversation


def test_no_room_in_the_picture_tells_of_documents_that_nobody_found() -> None:
    scenarios = ("tickets/unanswerable", "tickets/one_article", "tickets/several_articles")
    pictures = {draw(Match(Setup(incident(name, "hard"), seats={"desk": PERSON}))).graph for name in scenarios}
    assert len(pictures) == 1


def test_a_surprise_is_told_at_the_end_alone() -> None:
    match = Match(Setup(incident(FLEET, "hard"), seats=dict.fromkeys(SEATS, "expert"), surprise=True))
    before = whole(draw(match))
    assert "a surprise" in before
    assert not any(word in before for word in ("root cause", "cost cut", "rogue"))
    assert "autoscaler cost cut" in draw(finished(match)).status


@pytest.mark.parametrize("env", ["fleet", "logs", "tickets"])
def test_the_debrief_tells_truth_otherwise_and_oracle(env: str) -> None:
    from warroom.envs import environments

    match = finished(
        Match(Setup(incident(playable(env)[0]), seats=dict.fromkeys(environments()[env].seats, "heuristic")))
    )
    told = draw(match).debrief
    assert "What it was" in told and "What would have been" in told
    assert "oracle" in told and match.debrief.oracle[-1].tool in told
    assert "points" in draw(match).result


def test_looking_back_shows_the_incident_as_it_was() -> None:
    match = finished(fleet())
    first = draw(match, at=0)
    assert first.graph != draw(match).graph
    assert "+0 points" in first.status
    assert "resolve" in draw(match).conversation and "resolve" not in first.conversation


def test_a_seat_can_be_followed_alone() -> None:
    conversation = draw(finished(fleet()), seat="developer").conversation
    assert "developer" in conversation and ">sre " not in conversation


@pytest.mark.parametrize("name", ["hf:/nowhere/at/all@warm", "llm:some-model"])
def test_a_model_that_cannot_play_leaves_everything_unplayed(name: str) -> None:
    match = fleet(developer=name)
    assert not match.can_move and list(match.play("end")) == [] and match.steps == []
    drawn = draw(match)
    assert "UNAVAILABLE" in drawn.status and "UNAVAILABLE" in drawn.result
    assert match.unavailable["developer"][:30] in drawn.result.replace("&#x27;", "'")


def test_a_model_whose_server_fails_leaves_the_incident_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    from warroom.policies.llm import ApiOptions
    from warroom.policies.llm.client import LLMClient

    monkeypatch.setenv("WARROOM_API_KEY", "none")
    peer = Peer(lambda body, n: calls(("request_more_logs", {"service": "all"})) if n < 2 else fails(500, "no more"))
    with LLMClient(ApiOptions(base_url=peer.url, retries=0)) as client:
        match = Match(Setup(incident("logs/single_crash"), seats={"oncall": "llm:m"}), client)
        thought = ["is thinking" in draw(match).conversation for _ in match.play("end")]
    peer.close()
    assert thought == [True, False, True, False] and len(match.steps) == 1 and not match.done
    assert "no more" in draw(match).result and "the incident stays where it was" in draw(match).result


def test_no_form_that_is_not_ours_gets_through(tmp_path: Any) -> None:
    noop = dict.fromkeys(SEATS, "noop")
    wrong = [
        Setup(EpisodeSpec("fleet/" + str(tmp_path / "evil.py"), "easy", 0), noop),
        Setup(EpisodeSpec("logs/recorded", "easy", 0), {"oncall": "noop"}),
        Setup(EpisodeSpec(FLEET, "deadly", 0), noop),
        Setup(EpisodeSpec(FLEET, "easy", -1), noop),
        Setup(EpisodeSpec(FLEET, "easy", 0), {"sre": "noop"}),
    ]
    for setup in wrong:
        with pytest.raises(ValueError, match=r"no scenario|no tier|must lie|nobody sits"):
            Match(setup)


def test_what_is_offered_may_be_narrowed_and_typing_forbidden() -> None:
    assert AllowedPolicies().names("fleet")[-1] == PERSON and "human" not in AllowedPolicies().names("fleet")
    narrow = AllowedPolicies(("expert", "sweep"), allow_typed_models=False)
    assert narrow.names("fleet") == ["expert", PERSON]
    for name in ("human", "oracle", "hf:/etc"):
        with pytest.raises(ValueError, match="no policy"):
            narrow.check("fleet", name)
    AllowedPolicies().check("fleet", "hf:/etc")
    with pytest.raises(ValueError, match="did you mean 'expert'"):
        AllowedPolicies(("experts",))


# -- the form ---------------------------------------------------------------------------------------


def test_a_form_asks_for_what_the_tool_takes() -> None:
    env = fleet(sre=PERSON).env
    declare = form.fields(env.tools["declare"], env.allowed_values)
    assert [(f.name, f.kind, f.required) for f in declare] == [
        ("cause", "choice", True), ("service", "choice", True), ("change", "text", True), ("say", "text", False),
        ("ask", "text", False),
    ]  # fmt: skip
    assert set(declare[1].choices) == set(env.allowed_values["service"])


def test_an_empty_answer_is_asked_for_and_costs_nothing() -> None:
    match = fleet(sre=PERSON)
    tools = match.env.tools
    with pytest.raises(ValueError, match="needs “service”"):
        form.call_of(tools["metrics"], {"service": None})
    assert form.call_of(tools["wait"], {"say": ""}) == ToolCall("wait")
    assert form.call_of(tools["scale"], {"service": "a", "replicas": 3.0}).arguments["replicas"] == 3


def test_readings_that_are_used_up_are_no_longer_offered() -> None:
    match = fleet(sre=PERSON)
    service = match.env.allowed_values["service"][0]
    allowed = match.env.reads_per_turn
    assert form.reads_left(match.env) == allowed
    for _ in range(allowed):
        match.submit(ToolCall("metrics", {"service": service}))
    assert {tool.name for tool in form.available_tools(match.env)} == {"declare", "wait"}
    assert f"0 of {allowed} readings left" in pages.turn_panel(match)


# -- HTML -------------------------------------------------------------------------------------------


def test_nothing_that_an_incident_says_is_markup() -> None:
    match = fleet(sre=PERSON)
    match.submit(ToolCall("wait", {"say": NASTY}))
    finished(match)
    match.submit(ToolCall(NASTY, {NASTY: [NASTY]}))
    shown = whole(draw(match, spoilers=True)) + pages.sections(Scene("", sections=(Section(NASTY, (NASTY,)),)))
    shown += pages.notice(NASTY) + pages.facts(NASTY, {NASTY: NASTY})
    assert "<img" not in shown and "<script" not in shown
    assert "&lt;img" in shown


def test_the_waterfall_falls_by_what_was_paid() -> None:
    match = finished(fleet())
    drawn = waterfall.bars(match.steps)
    assert sum(bar.gained for bar in drawn) == pytest.approx(match.env.total)
    assert all(bar.high - bar.low == pytest.approx(abs(bar.gained)) for bar in drawn)
    assert "+110" not in waterfall.picture(match.steps, SEATS, match.env.budget, paid=False)


def test_what_seats_know_together_is_the_worst_that_one_knows() -> None:
    blind = Scene("a", (Node("x", "db"), Node("y", "db", "healthy")))
    sees = Scene("ab", (Node("x", "db", "critical"), Node("y", "db")), (), (Section("s", ("one",)),))
    both = merge_scenes([blind, sees])
    assert [(node.name, node.state) for node in both.nodes] == [("x", "critical"), ("y", "healthy")]
    assert both.sections == sees.sections and both.clock == "ab"


# -- the command ------------------------------------------------------------------------------------


def test_a_busy_port_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        told = refused("ui", "--no-open", "--port", port)
    assert told.startswith(f"error: cannot listen on 127.0.0.1 port {port}: Address already in use")


def test_a_missing_library_is_one_line() -> None:
    said = refused_without("gradio", "ui", "--port", "0")
    assert said == "error: gradio is not installed; run: pip install 'warroom[serve]'"


# -- visitors ---------------------------------------------------------------------------------------


def test_visitors_are_kept_apart_and_not_forever() -> None:
    now = 0.0
    lobby = Lobby(max_visitors=2, idle_seconds=10, clock=lambda: now)
    visits = [Visit(fleet()) for _ in range(3)]
    for name, visit in zip("abc", visits, strict=True):
        lobby.enter(name, visit)
    assert lobby.find("a") is None and visits[0].match.stopping
    assert lobby.find("b") is visits[1] and lobby.find("c") is visits[2]
    lobby.remove("b")
    assert lobby.find("b") is None and len(lobby) == 1
    now = 11.0
    assert lobby.find("c") is None and len(lobby) == 0


# -- the page in a browser --------------------------------------------------------------------------


SERVER = """
import contextlib, fastapi, uvicorn
from warroom.view.ui.lobby import Lobby
from warroom.cli.listening import address, listen
from warroom.view.ui.server import UiServer, mounted
app, lobby, bound = fastapi.FastAPI(), Lobby(), listen("127.0.0.1", 0)
app.get("/visits")(lambda: [len(lobby), *[len(entry.visit.match.steps) for entry in lobby._entries.values()]])
mounted(app, lobby=lobby)
config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
with contextlib.suppress(KeyboardInterrupt):
    UiServer(config, app, lambda: print(address(bound), flush=True)).run(sockets=[bound])
"""
"""The page in a process of its own, as it is served, and a peephole into its lobby."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    pytest.importorskip("gradio")
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=120)
    assert "Traceback" not in complaints, complaints


def visits(site: str) -> list[int]:
    """How many incidents are kept, and how many calls were made in each."""
    with urllib.request.urlopen(f"{site}/visits") as answer:
        found: list[int] = json.load(answer)
    return found


@pytest.fixture(scope="module")
def chromium() -> Iterator["Browser"]:
    with launched() as browser:
        yield browser


Visiting = Callable[..., AbstractContextManager["Page"]]


@pytest.fixture
def visiting(chromium: "Browser", site: str) -> Visiting:
    return partial(_visiting, chromium, site)


@contextmanager
def _visiting(chromium: "Browser", site: str, **until: Any) -> Iterator["Page"]:
    """A visitor; every request that does not go to the server fails the test."""
    with new_page(chromium, **until) as page:
        page.set_default_timeout(PATIENCE)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(site)
        page.wait_for_selector("#wr-status .wr-status")
        yield page
        outside = [url for url in asked if not url.startswith((site, "data:", "blob:"))]
        assert not outside, outside


PALEST = 4.5
"""Contrast that text needs at least to be read with ease."""
TEXTS = ".wr-head p, .wr-status span, .wr-chair em, .wr-quiet, .wr-card h3, .wr-turn small, .wr-answer, .wr-call i"
CONTRASTS = """(texts) => {
  const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const light = (color, below) => {
    for (const paint of [below, color]) { pen.fillStyle = paint; pen.fillRect(0, 0, 1, 1); }
    const parts = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = getComputedStyle(document.body).backgroundColor;
  return [...document.querySelectorAll(texts)].filter((text) => text.innerText).map((text) => {
    const two = [light(getComputedStyle(text).color, paper), light(paper, paper)].sort((a, b) => b - a);
    return [text.className + " " + text.tagName, (two[0] + 0.05) / (two[1] + 0.05)];
  });
}"""


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_soft_text_is_never_too_pale_and_boxes_that_scroll_show_it(visiting: Visiting, dark: bool) -> None:
    with visiting(dark=dark) as page:
        page.click("#wr-turn")
        page.wait_for_selector("#wr-talk .wr-turn")
        found = page.evaluate(CONTRASTS, TEXTS)
        assert len(found) > 5 and not [text for text in found if text[1] < PALEST], found
        bar = "getComputedStyle(document.querySelector('.wr-talk'), '::-webkit-scrollbar').width"
        assert page.evaluate(bar) == "9px"


def choose(page: "Page", env: str = "fleet", **seats: str) -> None:
    """Open the choice, and seat people and policies by the number of their seat."""
    page.locator("#wr-choose button").first.click()
    if env != "fleet":
        page.locator("#wr-env label", has_text=env).click()
        first = form.display_name(playable(env)[0].partition("/")[2])
        page.wait_for_function("first => document.querySelector('#wr-scenario input').value === first", arg=first)
    for seat, name in seats.items():
        box = page.locator(f"#wr-seat-{seat[-1]} input")
        box.click()
        box.fill(name)
        box.press("Enter")


def run_to_the_end(page: "Page") -> None:
    page.locator("#wr-pace label", has_text="at once").click()
    page.click("#wr-run")
    page.wait_for_selector("#wr-debrief .wr-debrief")


@pytest.mark.slow
def test_a_run_can_be_stopped_and_at_its_end_the_truth_is_told(visiting: Visiting) -> None:
    with visiting(dark=True) as page:
        page.locator("#wr-pace label", has_text="slowly").click()
        page.click("#wr-run")
        page.wait_for_selector("#wr-talk .wr-turn")
        page.click("#wr-stop")
        page.wait_for_selector("#wr-run:not([disabled])")
        assert page.locator("#wr-debrief .wr-debrief").count() == 0
        run_to_the_end(page)
        assert "Solved" in page.inner_text("#wr-result")
        assert "capacity_planner" in page.inner_text("#wr-debrief")
        assert "oracle" in page.inner_text("#wr-debrief .wr-table")
        assert page.locator("#wr-fall svg").first.is_visible()
        assert page.evaluate("document.body.classList.contains('dark')")
        slider = page.locator("#wr-moment input[type=range]")
        slider.focus()
        slider.press("Home")
        page.wait_for_selector("text=+0 points")
        assert page.locator("#wr-talk .wr-turn").count() == 0


@pytest.mark.slow
def test_a_person_plays_a_seat_to_the_end_and_refusals_are_explained(visiting: Visiting) -> None:
    with visiting(width=390, height=844) as page:
        choose(page, "logs", seat_0="person")
        page.click("#wr-start")
        page.wait_for_selector("#wr-desk >> text=You are oncall")
        assert "root cause" not in page.inner_text("#wr-graph")
        page.click("#wr-send")
        page.wait_for_selector("#wr-notice >> text=nothing was played")
        page.locator("#wr-tool label", has_text="classify severity").click()
        pick(page, "P2")
        page.click("#wr-send")
        page.wait_for_selector("#wr-desk >> text=4 of 5 readings left")
        page.locator("#wr-tool label", has_text="ignore").click()
        page.wait_for_selector("#wr-help >> text=An act")
        page.click("#wr-send")
        page.wait_for_selector("#wr-debrief .wr-debrief")
        assert "Not solved" in page.inner_text("#wr-result")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        choose(page, "tickets", seat_0="person")
        page.click("#wr-start")
        page.wait_for_selector("#wr-desk >> text=You are desk")
        page.locator("#wr-tool label", has_text="get article").click()
        page.wait_for_selector("#wr-help >> text=Open an article")  # the fields of the tool chosen before are gone
        page.fill("#wr-field-0-text textarea", NASTY)
        page.click("#wr-send")
        page.wait_for_selector("#wr-desk .wr-refused >> text=Refused, and the turn is spent: no article")
        assert "onerror" in page.inner_text("#wr-talk") and page.evaluate("window.hacked") is None


def pick(page: "Page", value: str) -> None:
    box = page.locator("#wr-field-0-choice input")
    box.click()
    box.fill(value)
    box.press("Enter")


@pytest.mark.slow
def test_a_broken_model_is_called_unavailable_and_nothing_is_played(site: str, visiting: Visiting) -> None:
    with visiting() as page:
        choose(page, seat_2="hf:/nowhere/at/all")
        page.click("#wr-start")
        page.wait_for_selector("#wr-result .wr-missing")
        assert "no model folder '/nowhere/at/all'" in page.inner_text("#wr-result")
        assert "UNAVAILABLE" in page.locator(".wr-chair", has_text="developer").inner_text()
        assert page.locator("#wr-run").is_disabled() and page.locator("#wr-call").is_disabled()
        assert "Nothing was played" in page.inner_text("#wr-talk")
        assert visits(site)[-1] == 0


@pytest.mark.slow
def test_visitors_do_not_see_one_another_and_are_forgotten_when_they_leave(site: str, visiting: Visiting) -> None:
    with visiting() as page:
        other = page.context.new_page()
        other.goto(site)
        other.wait_for_selector("#wr-status .wr-status")
        page.click("#wr-call")
        page.wait_for_selector("#wr-talk .wr-turn")
        assert other.locator("#wr-talk .wr-turn").count() == 0
        assert sorted(visits(site)[-2:]) == [0, 1]
    end = time.monotonic() + 60
    while visits(site)[0]:
        assert time.monotonic() < end, "visits of visitors who left are kept"
        time.sleep(0.1)
