"""The viewer: one file that shows every episode of a run in a browser, without network or trust in its data."""

import base64
import gzip
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from browser import open_page
from warroom.cli.app import app
from warroom.core.splits import seed_of
from warroom.core.types import ToolCall
from warroom.envs import episode_spec, suite
from warroom.episode import Episode
from warroom.evals.viewer_link import VIEWER_MENTION
from warroom.policies import policy_set
from warroom.rollout import play
from warroom.runs import EPISODES, RECORD, EpisodeMatrix, Record, key_of, open_run
from warroom.session import Session
from warroom.view.viewer import packed, viewer_page
from warroom.view.viewer_data import EpisodeFilter, read_run_episodes, replay_scenes, tags

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAYLOAD = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=2>\u2028\ud800'\"`&amp;{{%%INDEX%%}}"


def write_run(folder: Path, episodes: Sequence[Episode], env: str = "fleet") -> Path:
    """A run folder with these episodes; its plan has each policy play all of their incidents."""
    config = {
        "env": env, "scenarios": sorted({e.scenario for e in episodes}), "tiers": sorted({e.tier for e in episodes}),
        "seeds": sorted({e.spec.index for e in episodes}), "policies": sorted({e.policy for e in episodes}),
        "split": "dev", "attempts": 1 + max((e.attempt for e in episodes), default=0),
        "options": episodes[0].spec.options.to_json() if episodes else {},
    }  # fmt: skip
    record = Record(
        kind="eval", command="warroom eval --out here", config=config, split="dev", seeds=config["seeds"],
        policies=config["policies"], planned=len(EpisodeMatrix.from_config(config)),
        started="2026-01-01T00:00:00+00:00",
    )  # fmt: skip
    with open_run(folder, record) as run:
        for episode in episodes:
            run.append(key_of(episode), episode.to_json())
    return folder


def fleet(policy: str, scenario: str = "autoscaler_cost_cut", tier: str = "easy", index: int = 0) -> Episode:
    return play(episode_spec(f"fleet/{scenario}", tier, seed_of("dev", index)), policy_set("fleet", policy))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two policies on two incidents, and a third policy on one of them."""
    episodes = [
        fleet(policy, scenario) for scenario in ("autoscaler_cost_cut", "disk_full") for policy in ("random", "expert")
    ]
    return write_run(tmp_path_factory.mktemp("runs") / "mine", [*episodes, fleet("heuristic")])


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["view", *map(str, words)])
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def viewer(folder: Path) -> Path:
    code, said = run(folder)
    assert code == 0, said
    assert "5 episodes" in said
    return folder / "viewer.html"


@pytest.fixture(scope="module")
def browser() -> "Iterator[Page]":
    """One page for all tests: a browser takes longer to start than a viewer to open."""
    with open_page() as page:
        yield page


@pytest.fixture
def page(browser: "Page") -> "Page":
    browser.set_viewport_size({"width": 1280, "height": 800})
    browser.emulate_media(color_scheme="light")
    return browser


def at(page: "Page", file: Path, where: str = "") -> None:
    """Open the viewer there, anew, and wait until it can be used."""
    page.goto("about:blank")
    page.goto(f"{file.as_uri()}{where}")
    page.wait_for_selector("html[data-ready]")


# -- the list -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_episodes_are_found_by_outcome_policy_and_words(page: "Page", viewer: Path) -> None:
    at(page, viewer)
    assert page.locator(".row").count() == 5 and page.locator("#count").inner_text() == "5 of 5 episodes"
    page.select_option("#by-tag", "solved")
    assert 0 < page.locator(".row").count() < 5
    page.click("#clear")
    page.select_option("#by-policy", "expert")
    assert page.locator(".row").count() == 2
    page.fill("#search", "disk dev seed 0")
    assert page.locator(".row").count() == 1
    page.fill("#search", "disk seed 9")
    assert page.locator(".row").count() == 0 and page.locator(".empty").is_visible()
    page.fill("#search", "disk")
    assert page.locator(".row b").first.text_content() == "disk full"
    page.click("#clear")
    page.select_option("#order", "worst")
    points = [float(text.replace("\u2212", "-")) for text in page.locator(".row .points b").all_text_contents()]
    assert points[0] == min(points)


@pytest.mark.slow
def test_an_episode_is_opened_and_walked_through_by_keys(page: "Page", viewer: Path) -> None:
    at(page, viewer)
    page.locator(".row", has_text="expert").first.click()
    page.wait_for_selector(".lanes")
    assert page.locator(".seat").all_inner_texts()[1:5] == ["sre", "oversight", "developer", "manager"]
    assert page.locator(".number.here").inner_text() == "1" and "Turn 1 · sre" in page.inner_text(".seen")
    page.keyboard.press("ArrowRight")
    assert page.locator(".number.here").inner_text() == "2" and page.url.endswith("t=2")
    assert "root cause" in page.locator(".graph").inner_text()
    page.keyboard.press("s")
    assert "As oversight knew it" in page.inner_text(".truth")
    assert "root cause" not in page.locator(".graph").inner_text()
    page.keyboard.press("End")
    assert "What the oracle would have done" in page.inner_text(".debrief")
    assert "At best the incident is closed" in page.inner_text(".debrief")
    page.keyboard.press("Escape")
    page.wait_for_selector(".overview")


@pytest.mark.slow
def test_what_is_shown_is_what_was_recorded(page: "Page", folder: Path, viewer: Path) -> None:
    episode = read_run_episodes(folder, EpisodeFilter()).episodes[1]
    at(page, viewer, "#e=1&t=1")
    first = [step for step in episode.steps if step.turn == 0]
    assert page.locator("pre.shown").first.inner_text().strip() == first[0].observation.strip()
    answers = [text.strip() for text in page.locator("pre.answer").all_inner_texts()]
    assert answers == [step.result.strip() for step in first]
    assert page.locator(".chip").count() == len(episode.steps)
    assert page.locator(".fall .sum").inner_html() == f"+{episode.total:.0f}"


@pytest.mark.slow
def test_what_a_policy_wrote_beside_its_call_is_shown(page: "Page", tmp_path: Path) -> None:
    mine = tmp_path / "spoken.py"
    mine.write_text(
        "from warroom import ToolCall\n\n\nclass Spoken:\n    last_message = 'It is <b>DNS</b>.'\n\n"
        "    def act(self, observation):\n        return ToolCall('wait')\n"
    )
    words = ["eval", "--policies", f"{mine}:Spoken", "--scenarios", "db_deadlock", "--tiers", "easy", "--seeds", "1"]
    assert CliRunner().invoke(app, [*words, "--out", str(tmp_path / "run")]).exit_code == 0
    assert run(tmp_path / "run")[0] == 0
    at(page, tmp_path / "run" / "viewer.html", "#e=0&t=1")
    assert page.locator("pre.message").all_inner_texts() == ["It is <b>DNS</b>."]


@pytest.mark.slow
def test_a_link_leads_to_its_turn_again(page: "Page", viewer: Path) -> None:
    at(page, viewer, "#e=1&t=3")
    assert page.locator(".number.here").inner_text() == "3" and "developer" in page.inner_text(".seen h3")
    page.click(".number >> text=end")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector(".debrief")
    assert page.locator(".number.here").inner_text() == "end"


@pytest.mark.slow
def test_two_policies_stand_side_by_side_on_the_same_incident(page: "Page", viewer: Path) -> None:
    page.set_viewport_size({"width": 1500, "height": 900})
    at(page, viewer, "#e=1&t=2")
    choices = page.locator("#beside option").all_inner_texts()
    assert len(choices) == 3, "only plays of the same incident are offered"
    page.select_option("#beside", "0")
    page.wait_for_selector(".plays.two")
    assert page.locator(".play h2").all_inner_texts() == ["expert", "random"]
    assert page.locator(".number.here").all_inner_texts() == ["2", "2"]
    boxes = [box.bounding_box() for box in page.locator(".play").all()]
    assert boxes[0] and boxes[1] and boxes[0]["y"] == boxes[1]["y"] and boxes[0]["x"] < boxes[1]["x"]
    assert "b=0" in page.url


@pytest.mark.slow
def test_two_runs_stand_side_by_side(page: "Page", folder: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", [fleet("oracle")])
    code, said = run(folder, other, "--out", tmp_path / "both.html", "--scenario", "autoscaler_cost_cut")
    assert code == 0, said
    at(page, tmp_path / "both.html", "#e=1&b=3")
    page.wait_for_selector(".plays.two")
    assert page.locator(".play h2").all_inner_texts() == ["expert · mine", "oracle · other"]
    assert page.locator("#report").is_hidden()


@pytest.mark.slow
def test_two_runs_leave_each_ones_own_viewer_alone(folder: Path, viewer: Path, tmp_path: Path) -> None:
    before, other = viewer.read_bytes(), write_run(tmp_path / "other", [fleet("oracle")])
    code, said = run(folder, other)
    assert code == 0 and str(folder / "viewer-and-other.html") in said
    assert (folder / "viewer-and-other.html").is_file() and viewer.read_bytes() == before


def test_runs_of_different_environments_are_not_shown_together(folder: Path, tmp_path: Path) -> None:
    ticket = play(episode_spec(suite("tickets")[0], "easy", seed_of("dev", 0)), policy_set("tickets", "oracle"))
    code, said = run(folder, write_run(tmp_path / "tickets", [ticket], env="tickets"))
    assert code == 2 and "is a run of fleet and" in said and "one of tickets" in said


@pytest.mark.slow
def test_a_link_to_no_episode_says_so(page: "Page", viewer: Path) -> None:
    for where in ("#e=9999", "#e=length", "#e="):
        at(page, viewer, where)
        assert "There is no episode" in page.inner_text(".missing") and page.locator("#search").is_visible()
    at(page, viewer)
    assert page.locator(".missing").count() == 0


# -- how it looks -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_minus_is_a_hyphen_and_the_search_field_holds_its_hint(page: "Page", tmp_path: Path) -> None:
    folder = write_run(tmp_path / "lost", [replace(fleet("noop"), score=-0.56)])
    assert run(folder)[0] == 0
    at(page, folder / "viewer.html", "#e=0")
    assert "score \N{MINUS SIGN}0.56" in page.inner_text(".score")
    hint = page.get_attribute("#search", "placeholder")
    room = "[getComputedStyle(search).font, search.clientWidth]"
    font, width = page.evaluate(room)
    page.evaluate("font => { window.pen = document.createElement('canvas').getContext('2d'); pen.font = font; }", font)
    assert page.evaluate("hint => pen.measureText(hint).width", hint) < width - 40


@pytest.mark.slow
@pytest.mark.parametrize("where", ["", "#e=1&t=2", "#e=1&t=end", "#e=1&b=0&t=1"])
def test_a_phone_never_scrolls_sideways(page: "Page", viewer: Path, where: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    at(page, viewer, where)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_dark_follows_the_system_and_the_button(page: "Page", viewer: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="dark")
    at(page, viewer, "#e=1")
    assert page.evaluate(background) == "rgb(20, 24, 29)"
    page.click("#theme")
    assert page.evaluate(background) == "rgb(255, 255, 255)"


# -- what must never happen -----------------------------------------------------------------------------


def hostile() -> Episode:
    """A poisoned ticket played with markup in every argument."""
    session = Session(episode_spec("tickets/poisoned", "easy", seed_of("dev", 0)))
    session.step(ToolCall("search_kb", {"query": PAYLOAD}))
    session.step(ToolCall(PAYLOAD, {PAYLOAD: PAYLOAD}))
    session.step(ToolCall("get_article", {"id": session.env.truth()["gold"][0]}))
    answer = {"resolution": PAYLOAD, "citations": [PAYLOAD], "confidence": 0.5, "escalate": False}
    session.step(ToolCall("submit_resolution", answer))
    return session.result("".join([letter for letter in PAYLOAD if letter.isprintable()]))


@pytest.mark.slow
def test_nothing_in_an_episode_is_ever_executed(page: "Page", tmp_path: Path) -> None:
    folder = write_run(tmp_path / "bad", [hostile()], env="tickets")
    assert run(folder)[0] == 0
    text = (folder / "viewer.html").read_text()
    assert "pwned" not in text and text.count("<script>") == 1
    for turn in ("1", "2", "3", "4", "end"):
        at(page, folder / "viewer.html", f"#e=0&t={turn}")
        for button in page.locator(".sides button").all():
            button.click()
        assert page.evaluate("window.pwned") is None
        assert page.locator("main img, main script").count() == 0
    assert PAYLOAD.split("\u2028")[0] in page.inner_text(".truth")
    assert PAYLOAD.split("\u2028")[0] in (page.text_content("#rows") or "")


@pytest.mark.slow
def test_even_a_script_that_got_in_would_not_run(page: "Page", viewer: Path) -> None:
    at(page, viewer)
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.pwned = 1'}))")
    assert page.evaluate("window.pwned") is None


@pytest.mark.slow
def test_the_page_asks_the_network_for_nothing(page: "Page", viewer: Path) -> None:
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", viewer.read_text())
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    at(page, viewer, "#e=1&t=2")
    assert [url.partition("#")[0] for url in asked] == [viewer.as_uri()]


# -- folders as they are found ----------------------------------------------------------------------------


def cut(folder: Path, tmp_path: Path) -> Path:
    """The same run as a full disk left it: two episodes and half of a third."""
    half = tmp_path / "half"
    half.mkdir()
    lines = (folder / EPISODES).read_bytes().splitlines(keepends=True)
    (half / EPISODES).write_bytes(b"".join(lines[:2]) + lines[2][:500])
    (half / RECORD).write_bytes((folder / RECORD).read_bytes())
    return half


@pytest.mark.slow
def test_of_a_cut_run_the_finished_episodes_are_shown_and_the_rest_is_named(
    page: "Page", folder: Path, tmp_path: Path
) -> None:
    code, said = run(cut(folder, tmp_path))
    assert code == 0 and "2 of 6 planned episodes are finished" in said and "cut after 500 bytes" in said
    assert f"warroom eval --out {tmp_path / 'half'} --resume" in said
    at(page, tmp_path / "half" / "viewer.html")
    assert page.locator(".row").count() == 2 and "2 of 6 planned" in page.inner_text("#notes")


def damaged(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text()))


def test_folders_without_episodes_are_refused_with_what_to_do(folder: Path, tmp_path: Path) -> None:
    for said in (
        "does not exist",
        "is not a run folder",
        "no episode was finished",
        "no finished episode",
        "training",
    ):
        place = tmp_path / said.replace(" ", "-")
        if said != "does not exist":
            place.mkdir()
        if said not in ("does not exist", "is not a run folder"):
            (place / RECORD).write_text((folder / RECORD).read_text())
        if said == "no finished episode":
            (place / EPISODES).write_text("")
        if said == "training":
            damaged(place / RECORD, lambda text: text.replace('"eval"', '"train"'))
        code, told = run(place)
        assert code == 2 and said in told, told


def test_a_filter_that_fits_nothing_says_what_there_is(folder: Path) -> None:
    code, said = run(folder, "--policy", "expart")
    assert code == 2 and "expert" in said
    code, said = run(folder, "--policy", "heuristic", "--scenario", "disk_full")
    assert code == 2 and "together" in said
    assert run(folder, "--tier", "hard")[0] == 2


@pytest.mark.slow
def test_an_episode_that_goes_another_way_now_is_shown_without_scenes(page: "Page", tmp_path: Path) -> None:
    old = fleet("expert")
    steps = (replace(old.steps[0], observation="another page"), *old.steps[1:])
    folder = write_run(tmp_path / "old", [replace(old, steps=steps)])
    code, said = run(folder)
    assert code == 2 and "--no-scenes" in said and "call 0" in said and "or the file was changed" in said
    assert run(folder, "--no-scenes")[0] == 0
    at(page, folder / "viewer.html", "#e=0&t=1")
    assert "another page" in page.inner_text(".seen") and "made without scenes" in page.inner_text(".truth")
    page.keyboard.press("End")
    assert "What it truly was" in page.inner_text(".debrief")


def test_the_file_goes_where_it_is_wanted_or_the_command_says_why_not(folder: Path, tmp_path: Path) -> None:
    assert run(folder, "--out", tmp_path, "--policy", "expert", "--no-scenes")[0] == 0
    assert (tmp_path / "viewer.html").is_file()
    code, said = run(folder, "--out", tmp_path / "viewer.html" / "under.html", "--policy", "expert")
    assert code == 2 and "cannot write" in said and "--out" in said


def test_a_damaged_line_in_the_middle_is_named(folder: Path, tmp_path: Path) -> None:
    half = cut(folder, tmp_path)
    damaged(half / EPISODES, lambda text: "{}\n" + text)
    code, said = run(half)
    assert code == 2 and "line 1" in said


def test_a_report_links_the_viewer_once_it_is_written(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "mine", [fleet("oracle")])
    (folder / "report.html").write_text(VIEWER_MENTION[False])
    assert run(folder, "--out", tmp_path / "elsewhere.html")[0] == 0
    assert (folder / "report.html").read_text() == VIEWER_MENTION[False]
    assert run(folder)[0] == 0
    assert (folder / "report.html").read_text() == VIEWER_MENTION[True]


def test_a_page_that_cannot_be_written_says_so_in_its_own_words(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html.part").mkdir()
    code, said = run(folder, "--out", tmp_path / "page.html", "--policy", "heuristic")
    assert code == 2 and "no page was written" in said and "--resume" not in said.splitlines()[-1]


# -- every environment -----------------------------------------------------------------------------------


@pytest.mark.parametrize("env", ["fleet", "logs", "tickets"])
def test_scenes_of_every_turn_and_of_the_end(env: str) -> None:
    episode = play(episode_spec(suite(env)[0], "medium", seed_of("dev", 1)), policy_set(env, "expert"))
    played, true, known = replay_scenes(episode)
    turns = episode.steps[-1].turn + 1
    assert played.done and len(true) == turns + 1 and len(known) == turns
    assert not any(node.mark for scene in known for node in scene.nodes)


@pytest.mark.slow
@pytest.mark.parametrize("env", ["logs", "tickets"])
def test_single_seats_are_shown_too(page: "Page", env: str, tmp_path: Path) -> None:
    games = [
        play(episode_spec(suite(env)[0], "easy", seed_of("dev", 1)), policy_set(env, p))
        for p in ("heuristic", "expert")
    ]
    folder = write_run(tmp_path / env, games, env=env)
    assert run(folder)[0] == 0
    at(page, folder / "viewer.html", "#e=1&b=0&t=end")
    page.wait_for_selector(".plays.two")
    assert page.locator(".graph .node:not(.absent)").count() > 2
    assert "What would have been" in page.inner_text(".debrief >> nth=0")


def test_outcomes_become_words_to_filter_by() -> None:
    assert {"solved", "cause right"} <= set(tags(fleet("oracle")))
    told = {tag for index in range(6) for tag in tags(fleet("oracle", index=index))}
    assert "rogue caught" in told, "three of five agents that do harm break a rule"
    assert "not solved" in tags(fleet("noop"))
    lost = replace(fleet("noop"), outcome={"solved": None, "wrong_fixes": 2, "rogue_false_positive": True})
    assert tags(lost) == ["innocent flagged", "wrong fix"]


def test_the_same_run_makes_the_same_file(folder: Path) -> None:
    sources = [read_run_episodes(folder, EpisodeFilter(policies=("expert",)))]
    assert viewer_page(sources) == viewer_page(sources)


# -- how fast ----------------------------------------------------------------------------------------------


COPIES = 20


def with_copies(page: str) -> str:
    """The page of a run of COPIES times as many episodes: each stands in it again and again, with its own data."""
    shown = re.search(r'id="index">([^<]*)<', page)
    assert shown is not None
    index = json.loads(gzip.decompress(base64.b64decode(shown[1])))
    count = len(index["rows"])
    episodes = re.findall(r'(<script type="text/plain" id="e)(\d+)(">[^<]*</script>)', page)
    more = [f"{a}{int(number) + k * count}{b}" for k in range(1, COPIES) for a, number, b in episodes]
    longer = page.replace(shown[1], packed(index | {"rows": index["rows"] * COPIES}), 1)
    return longer.replace("".join(episodes[-1]), "\n".join(["".join(episodes[-1]), *more]), 1)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A viewer of 540 episodes: 3 scenarios, 3 tiers and 3 policies, each of them 20 times."""
    episodes = [
        fleet(policy, scenario, tier)
        for scenario in ("autoscaler_cost_cut", "db_deadlock", "disk_full")
        for tier in ("easy", "medium", "hard")
        for policy in ("noop", "heuristic", "expert")
    ]
    folder = write_run(tmp_path / "many", episodes)
    assert run(folder)[0] == 0
    file = folder / "viewer.html"
    file.write_text(with_copies(file.read_text()))
    return file


@pytest.mark.slow
def test_540_episodes_open_within_two_seconds(page: "Page", many: Path) -> None:
    assert many.stat().st_size < 12e6
    times = []
    for _ in range(3):
        start = time.perf_counter()
        page.goto(many.as_uri(), wait_until="commit")
        page.wait_for_selector("html[data-ready]")
        times.append(time.perf_counter() - start)
        assert page.locator(".row").count() == 540
    assert min(times) < 2
    page.locator(".row").nth(300).click()
    page.wait_for_selector(".lanes", timeout=2000)
