"""The page of `warroom ui` beside the OpenEnv server: one process, one address, and neither minds the other."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("openenv")
if find_spec("gradio") is None:  # to import it takes 1.5 s, and only the servers that the tests start need it
    pytest.skip("gradio is not installed", allow_module_level=True)

from openenv.cli._validation import validate_running_environment

from browser import open_page
from command import refused
from warroom.serve.client import Client

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE = 120_000
"""Milliseconds that a busy machine may take for anything."""
DEPLOYED = {"ENABLE_WEB_INTERFACE": "true", "SPACE_ID": "someone/warroom", "SYSTEM": "spaces"}
"""What is set where a Space runs: the first by `openenv push`, the others by the Hub."""


@contextmanager
def served(*words: str) -> Iterator[str]:
    """The address of `warroom serve --page`, in a process of its own, which ends at Ctrl-C without a word."""
    # -P: where Gradio is told that it is on a Space it imports a library `spaces`, and must not find our folder.
    command = [sys.executable, "-P", "-m", "warroom", "serve", "--page", "--port", "0", *words]
    environment = {**os.environ, **DEPLOYED}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert "serving" in line, line + process.stderr.read()
            yield line.rpartition(" at ")[2].partition(";")[0]
            process.send_signal(signal.SIGINT)
            assert (process.communicate(timeout=60)[1], process.returncode) == ("", 0)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def one() -> Iterator[str]:
    with served("--env", "logs") as url:
        yield url


@contextmanager
def visiting(url: str) -> Iterator["Page"]:
    """A visitor who types the address of the server; a request to anybody else fails the test."""
    with open_page() as page:
        page.set_default_timeout(PATIENCE)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(url)
        yield page
        outside = [each for each in asked if not each.startswith((url, "data:", "blob:"))]
        assert not outside, outside


def episode(url: str) -> tuple[int, str | None]:
    """Turns and digest of an incident that is played over the socket by looking on."""
    with Client(url, timeout=120) as client:
        observation = client.reset(seed=3)
        while not observation.done:
            observation = client.call("request_more_logs", service="all")
        return observation.turn, observation.trajectory_hash


def fetched(url: str, data: bytes | None = None, **headers: str) -> tuple[int, str, str]:
    """Status, address at the end, and text."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as answer:
            return answer.status, answer.url, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, url, error.read().decode()


@pytest.mark.slow
def test_an_incident_is_played_on_the_page_while_a_client_plays_on_the_socket(one: str) -> None:
    alone = episode(one)
    with ThreadPoolExecutor(1) as aside, visiting(one) as page:
        page.wait_for_selector("#wr-status .wr-status")
        assert page.url == f"{one}/web/"
        assert "logs" in page.inner_text("#wr-status")
        beside = aside.submit(lambda: [episode(one) for _ in range(3)])
        page.locator("#wr-pace label", has_text="at once").click()
        page.click("#wr-run")
        page.wait_for_selector("#wr-debrief .wr-debrief")
        assert "oracle" in page.inner_text("#wr-debrief")
        assert beside.result(120) == [alone] * 3
        page.screenshot(path=os.environ.get("WARROOM_SCREENSHOT"), full_page=True)


@pytest.mark.slow
def test_the_page_offers_what_is_served_and_no_typed_model(one: str) -> None:
    components = config(one)["components"]
    shown = {of["props"].get("elem_id"): of["props"] for of in components}
    assert not shown["wr-env"]["visible"] and [value for _, value in shown["wr-env"]["choices"]] == ["logs"]
    assert all(value.startswith("logs/") for _, value in shown["wr-scenario"]["choices"][1:])
    assert not shown["wr-seat-0"]["allow_custom_value"] and "wr-seat-1" not in shown


def config(url: str, **headers: str) -> dict[str, Any]:
    """What Gradio tells of the page."""
    found: dict[str, Any] = json.loads(fetched(f"{url}/web/config", **headers)[2])
    return found


@pytest.mark.slow
def test_both_addresses_lead_to_the_page_and_keep_the_query(one: str) -> None:
    for path in ("/", "/web"):
        status, at, text = fetched(f"{one}{path}?__theme=dark")
        assert (status, at) == (200, f"{one}/web/?__theme=dark") and "gradio_config" in text


@pytest.mark.slow
def test_behind_a_proxy_the_page_asks_the_proxy(one: str) -> None:
    assert config(one, **{"X-Forwarded-Proto": "https", "X-Forwarded-Host": "a.space"})["root"] == "https://a.space/web"


@pytest.mark.slow
def test_openenvs_own_page_does_not_take_its_place_and_its_probe_is_content(one: str) -> None:
    assert fetched(f"{one}/web/state")[0] == 404
    criteria = validate_running_environment(one)["criteria"]
    assert [criterion["passed"] for criterion in criteria] == [True] * 6, criteria


@pytest.mark.slow
def test_the_servers_limits_hold_for_the_page_and_it_keeps_no_files(one: str) -> None:
    join = f"{one}/web/gradio_api/queue/join"
    assert fetched(join, b" " * 1_100_000, **{"Content-Type": "application/json"})[0] == 413
    file = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nhello\r\n--x--\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    assert fetched(f"{one}/web/gradio_api/upload", file, **kind)[0] == 415


@pytest.mark.slow
@pytest.mark.parametrize("name", ["trigger_id", "fn_index", "data", "session_hash", "event_id"])
def test_no_field_of_an_event_breaks_the_page_whatever_its_type(one: str, name: str) -> None:
    event = {"data": [], "fn_index": 0, "session_hash": "x", "trigger_id": None}
    for value in ([None], [1], {}, {"a": 1}, True, 1.5, "x", -1, 10**30):
        body = json.dumps(event | {name: value}).encode()
        status = fetched(f"{one}/web/gradio_api/queue/join", body, **{"Content-Type": "application/json"})[0]
        assert status < 500, (name, value)


@pytest.mark.slow
def test_beside_several_environments_the_index_names_the_page() -> None:
    with served() as url:
        with visiting(url) as page:
            page.get_by_role("link", name="take a seat").click()
            page.wait_for_selector("#wr-status .wr-status")
            page.locator("#wr-choose button").first.click()
            page.wait_for_selector("#wr-env label")
            assert page.locator("#wr-env label").all_inner_texts() == ["fleet", "logs", "tickets"]
        assert episode(f"{url}/logs")[1]


def test_a_page_lives_in_one_process() -> None:
    assert "--page needs --workers 1, got 2" in refused("serve", "--page", "--workers", 2)


@pytest.mark.slow
def test_without_the_page_nothing_of_it_is_loaded() -> None:
    code = (
        "import sys; import warroom.cli.http_server; from warroom.serve.app import ServeOptions, application;"
        "application(ServeOptions('logs')); print('gradio' in sys.modules, 'warroom.view' in sys.modules)"
    )
    clean = {name: value for name, value in os.environ.items() if name not in DEPLOYED}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean)
    assert done.stdout.split() == ["False", "False"]
