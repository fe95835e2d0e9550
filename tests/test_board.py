"""What a person sees at the terminal while an episode runs."""

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

import tiny_env
from warroom.core.env import Env
from warroom.core.episode import Step
from warroom.core.types import Turn
from warroom.envs import environments, suite
from warroom.policies import team
from warroom.rollout import play
from warroom.view.board import Board, fitted, panels, step_line, watching


@pytest.fixture(autouse=True)
def tiny() -> Iterator[None]:
    tiny_env.install()
    yield
    tiny_env.uninstall()


def seen(scenario: str, width: int = 120, height: int = 40) -> list[str]:
    """Every picture of the board of one episode, as text."""
    pictures: list[str] = []
    board = Board(Console(file=io.StringIO(), width=width, height=height), pause=0.0)

    def watch(env: Env, step: Step, turn: Turn) -> None:
        board.calls.append(step)
        page = Console(file=io.StringIO(), width=width, height=height)
        page.print(board.picture(env))
        pictures.append(page.file.getvalue())  # type: ignore[attr-defined]

    play(scenario, "hard", 7, team(scenario.partition("/")[0], "oracle"), watch)
    return pictures


@pytest.mark.parametrize("env", [*sorted({*environments()} - {"tiny"}), "tiny"])
@pytest.mark.parametrize(("width", "height"), [(140, 40), (80, 24)])
def test_the_board_of_every_environment_fits_its_screen(env: str, width: int, height: int) -> None:
    for picture in seen(suite(env)[0], width, height):
        lines = picture.splitlines()
        assert all(len(line) <= width for line in lines)
        assert "points" in picture and "calls" in picture and "hard" in picture
        assert width < 100 or len(lines) <= height


def test_an_environment_without_panels_shows_what_the_seat_was_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(tiny_env.Tiny, "board")
    assert "looks ill <&> to sre" in seen("tiny/fault")[0]


def test_the_environments_own_panels_come_first() -> None:
    assert "services" in seen("tiny/fault")[0] and "cart" in seen("tiny/fault")[0]


def test_a_crowded_panel_keeps_the_worst_and_the_latest_in_their_order() -> None:
    lines = ["a healthy", "b critical", "c healthy", "d degraded", "e healthy"]
    assert fitted(lines, 5) == lines
    assert fitted(lines, 4) == ["b critical", "d degraded", "e healthy", "... and 2 more"]
    assert fitted(["1", "2", "3", "4"], 3) == ["3", "4", "... and 2 more"]


def test_a_long_answer_shows_its_beginning_on_one_line() -> None:
    step = Step(0, "sre", "", "look", {"service": "cart"}, "many\nwords " * 50, -2.0, {}, False)
    line = step_line(step)
    assert "\n" not in line and line.endswith("…  [-2]") and "look service=cart" in line


def test_the_live_board_writes_and_leaves_the_screen_clean() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120, height=40)
    with watching(console, live=True, pause=0.0) as watcher:
        play("tiny/fault", "easy", 7, team("tiny", "oracle"), watcher.watch)
    assert "turn 1 of 8" in console.file.getvalue()  # type: ignore[attr-defined]


def test_before_the_first_call_there_is_nothing_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(tiny_env.Tiny, "board")
    assert panels(tiny_env.Tiny(tiny_env.SCENARIOS["tiny/fault"], "easy", 1, {}), None) == {}
