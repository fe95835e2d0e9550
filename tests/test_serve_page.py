"""The page of `warroom ui` beside the OpenEnv server: one process, one address, and neither minds the other."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("openenv")

from openenv.cli._validation import validate_running_environment

from browser import needs_page
from command import refused
from warroom.serve.client import Client

DEPLOYED = {"ENABLE_WEB_INTERFACE": "true", "SPACE_ID": "someone/warroom", "SYSTEM": "spaces"}
"""What is set where a Space runs: the first by `openenv push`, the others by the Hub."""
WISH = {"env": "logs", "scenario": None, "tier": "easy", "split": "dev", "index": 0, "seats": {"oncall": "expert"}}


@contextmanager
def served(games: Path, *words: str) -> Iterator[str]:
    """The address of `warroom serve --page`, in a process of its own, which ends at Ctrl-C without a word."""
    needs_page()
    command = [sys.executable, "-P", "-m", "warroom", "serve", "--page", "--port", "0", "--games", str(games), *words]
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
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("games"), "--env", "logs") as url:
        yield url


class Answer(NamedTuple):
    status: int
    url: str
    text: str


def fetched(url: str, data: bytes | None = None, **headers: str) -> Answer:
    """Status, address at the end, and text."""
    kind = {} if data is None else {"Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, {**kind, **headers}), timeout=60) as answer:
            return Answer(answer.status, answer.url, answer.read().decode())
    except urllib.error.HTTPError as error:
        return Answer(error.code, url, error.read().decode())


def sent(url: str, body: object) -> Any:
    return json.loads(fetched(url, json.dumps(body).encode()).text)


@pytest.mark.slow
def test_an_incident_is_played_on_the_page_while_a_client_plays_on_the_socket(one: str) -> None:
    page = sent(f"{one}/web/api/games", WISH)
    with Client(one, timeout=120) as client:
        observation = client.reset(seed=3)
        moved = sent(f"{one}/web/api/games/{page['id']}/move", {"until": "end"})
        while not observation.done:
            observation = client.call("request_more_logs", service="all")
    assert observation.trajectory_hash
    while moved["phase"] == "playing":
        moved = json.loads(fetched(f"{one}/web/api/games/{page['id']}").text)
    assert moved["phase"] == "over"


@pytest.mark.slow
def test_the_page_offers_what_is_served_and_no_typed_model(one: str) -> None:
    options = json.loads(fetched(f"{one}/web/api/options").text)
    assert [env["name"] for env in options["environments"]] == ["logs"] and not options["typed_models"]
    for wrong in ({"env": "fleet"}, {"seats": {"oncall": "hf:/etc"}}, {"seats": {"oncall": "llm:x"}}):
        assert fetched(f"{one}/web/api/games", json.dumps(WISH | wrong).encode()).status == 400


@pytest.mark.slow
def test_both_addresses_lead_to_the_page_and_keep_the_query(one: str) -> None:
    for path in ("/", "/web"):
        status, at, text = fetched(f"{one}{path}?theme=dark")
        assert (status, at) == (200, f"{one}/web/?theme=dark") and "app.js" in text
    assert fetched(f"{one}/web/app.js").status == 200


@pytest.mark.slow
def test_openenvs_own_page_does_not_take_its_place_and_its_probe_is_content(one: str) -> None:
    assert fetched(f"{one}/web/state").status == 404
    criteria = validate_running_environment(one)["criteria"]
    assert [criterion["passed"] for criterion in criteria] == [True] * 6, criteria


@pytest.mark.slow
def test_the_servers_guards_hold_for_the_page(one: str) -> None:
    games = f"{one}/web/api/games"
    assert fetched(games, b" " * 1_100_000).status == 413
    assert fetched(games, b"{}", **{"Content-Type": "text/plain"}).status == 415
    assert fetched(games, json.dumps(WISH).encode(), Origin="http://evil.test").status == 403


@pytest.mark.thorough
def test_beside_several_environments_the_index_names_the_page(tmp_path: Path) -> None:
    with served(tmp_path) as url:
        assert "take a seat" in fetched(url).text
        options = json.loads(fetched(f"{url}/web/api/options").text)
        assert [env["name"] for env in options["environments"]] == ["fleet", "logs", "tickets"]


def test_a_page_lives_in_one_process_and_its_games_need_it() -> None:
    assert "--page needs --workers 1, got 2" in refused("serve", "--page", "--workers", 2)
    assert "add --page" in refused("serve", "--games", "here")


@pytest.mark.slow
def test_without_the_page_nothing_of_it_is_loaded() -> None:
    code = (
        "import sys; import warroom.cli.http_server; from warroom.serve.app import ServeOptions, application;"
        "application(ServeOptions('logs')); print('gradio' in sys.modules, 'warroom.view' in sys.modules)"
    )
    clean = {name: value for name, value in os.environ.items() if name not in DEPLOYED}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean)
    assert done.stdout.split() == ["False", "False"]
