"""A real server: transformers' own, with the nanos that ship. What plays behind it is what plays in this process."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import run
from warroom.policies import hf
from warroom.runs import EPISODES, read_episodes

pytest.importorskip("openai")
pytest.importorskip("transformers")
NANO = ["--temperature", "0", "--renderer", "compact", "--reminders", "0", "--max-output-tokens", "20"]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the server listens; it loads whatever model it is asked for."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [Path(sys.executable).with_name("transformers"), "serve", "--device", "cpu", "--dtype", "float32"]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as file:
        server = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            stdout=file,
            stderr=file,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        )
    try:
        _await(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


def _await(health: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(1200):
        try:
            with urllib.request.urlopen(health, timeout=1):
                return
        except OSError:
            assert server.poll() is None, log.read_text()
            time.sleep(0.1)
    pytest.fail(f"the server does not come up: {log.read_text()}")


def calls(folder: Path) -> list[list[tuple[str, str, object, bool]]]:
    return [[(s.seat, s.tool, s.arguments, s.refused) for s in e.steps] for e in read_episodes(folder)]


@pytest.mark.thorough
def test_a_nano_makes_the_same_calls_behind_a_server_as_here(url: str, tmp_path: Path) -> None:
    what = [
        "--env",
        "tickets",
        "--scenarios",
        "stale,one_article",
        "--mode",
        "single",
        "--tiers",
        "easy",
        "--seeds",
        "2",
    ]
    nano = f"llm:{hf.WEIGHTS / 'nano-tickets'}"
    live = ["--base-url", url, "--record", tmp_path / "calls"]
    done = run("eval", *what, "--policies", nano, *NANO, *live, "--out", tmp_path / "there")
    assert done.exit_code == 0, done.output
    assert run("eval", *what, "--policies", "nano", "--workers", "1", "--out", tmp_path / "here").exit_code == 0
    assert calls(tmp_path / "there") == calls(tmp_path / "here")
    again = run("eval", *what, "--policies", nano, *NANO, "--replay", tmp_path / "calls", "--out", tmp_path / "again")
    assert again.exit_code == 0, again.output
    assert (tmp_path / "again" / EPISODES).read_bytes() == (tmp_path / "there" / EPISODES).read_bytes()


@pytest.mark.thorough  # `llm_peer` stands for a server elsewhere
def test_four_seats_talk_with_a_server_as_with_the_model_itself(url: str, tmp_path: Path) -> None:
    what = ["--env", "fleet", "--scenarios", "rogue_deploy_bot", "--tiers", "easy", "--seeds", "1"]
    nano = f"llm:{hf.WEIGHTS / 'nano'}"
    done = run("eval", *what, "--policies", nano, *NANO, "--base-url", url, "--out", tmp_path / "there")
    assert done.exit_code == 0, done.output
    assert run("eval", *what, "--policies", "nano", "--workers", "1", "--out", tmp_path / "here").exit_code == 0
    assert calls(tmp_path / "there") == calls(tmp_path / "here")
    seats = {seat for episode in calls(tmp_path / "there") for seat, *_ in episode}
    assert len(seats) == 4


@pytest.mark.thorough  # `llm_peer` stands for a server elsewhere
def test_a_model_that_the_server_does_not_have_is_told(url: str, tmp_path: Path) -> None:
    words = ["--env", "tickets", "--policies", "llm:/no/such/model", "--base-url", url, "--retries", "0"]
    done = run("eval", *words, "--out", tmp_path / "run")
    assert done.exit_code == 2 and "/no/such/model at" in done.output and not (tmp_path / "run").exists()
    assert done.output.count("error: ") == 1
