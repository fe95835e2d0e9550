"""`warroom serve` as it is typed."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("openenv")

from command import printed, refused
from live import listening, running
from warroom.envs import environments
from warroom.serve.app import ServeOptions, application
from warroom.serve.client import Client
from warroom.serve.reset_options import reset_options


@contextmanager
def served(*words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The command in a process of its own, and the address that it tells."""
    command = [sys.executable, "-m", "warroom", "serve", "--port", "0", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert "serving" in line, line + process.stderr.read()
            yield line.rpartition(" at ")[2].partition(";")[0], process
        finally:
            process.kill()


@pytest.mark.slow
def test_a_server_says_where_it_is_plays_and_ends_cleanly_at_ctrl_c() -> None:
    with served("--env", "logs") as (url, process):
        with Client(url, attempts=10) as client:
            observation = client.reset(seed=0)
            assert not observation.done and not observation.debug
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=20) == 0
        assert process.stderr is not None and process.stderr.read() == ""


@pytest.mark.thorough  # `test_serve_workers.py` kills one of two
def test_workers_share_a_port_and_a_killed_one_is_replaced() -> None:
    with served("--env", "logs", "--workers", "2") as (url, process), Client(url, attempts=12) as client:
        unbroken = client.reset(seed=0)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for child in children[-2:]:
            os.kill(int(child), signal.SIGKILL)
        assert client.call("request_more_logs", service="all").turn == unbroken.turn + 1
        assert client.reconnections == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0


def test_a_busy_port_a_wrong_host_and_wrong_names_are_one_line_each() -> None:
    taken = listening()
    port = taken.getsockname()[1]
    assert "Address already in use; choose another --port" in refused("serve", "--port", port)
    taken.close()
    assert "no such host 'no.such.host.invalid'" in refused("serve", "--public", "--host", "no.such.host.invalid")
    assert "choose another --port or --host" in refused("serve", "--public", "--host", "203.0.113.1")
    assert "no environment 'flet'; did you mean 'fleet'" in refused("serve", "--env", "flet")
    assert "no policy 'exprt'; did you mean 'expert'" in refused("serve", "--team", "exprt")


@pytest.mark.slow
def test_the_page_at_the_root_says_what_is_there() -> None:
    from browser import open_page

    with running(application(ServeOptions())) as url, open_page() as page:
        page.goto(url)
        for env in ("fleet", "logs", "tickets"):
            assert page.locator("h2", has_text=env).is_visible()
        assert url + "/fleet" in page.locator("pre").inner_text()
        page.get_by_role("link", name="tasks").first.click()
        page.locator("body", has_text="validation").wait_for()


def test_the_python_of_the_document_runs() -> None:
    text = (Path(__file__).parents[1] / "docs" / "serve.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    with running(application(ServeOptions())) as url:
        for block in blocks:
            exec(block.replace("http://127.0.0.1:8000", url), {})


def test_the_document_names_every_option_of_a_reset() -> None:
    text = (Path(__file__).parents[1] / "docs" / "serve.md").read_text()
    missing = [name for env in environments() for name in reset_options(env) if f"`{name}`" not in text]
    assert not missing


def test_the_commands_of_the_document_parse() -> None:
    text = (Path(__file__).parents[1] / "docs" / "serve.md").read_text()
    shown = printed("serve", "--help")
    options = [word for line in re.findall(r"warroom serve[^\n#`]*", text) for word in re.findall(r"--[a-z-]+", line)]
    assert len(options) >= 5 and all(option in shown for option in options)
