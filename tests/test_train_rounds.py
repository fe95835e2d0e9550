"""Runs by rounds of own play: stopped, killed, resumed, and their controls."""

import signal
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch

from command import refused
from warroom.core.signals import Interrupts
from warroom.envs.fleet.drawn_truth import rogues_of
from warroom.train.callbacks import display
from warroom.train.leave_out import is_left_out, parse_left_out
from warroom.train.loading import load_base
from warroom.train.own_play import Teaching
from warroom.train.resolve_config import resolve_config
from warroom.train.round_checkpoint import checkpoint_path
from warroom.train.rounds import Rounds, make_learner
from warroom.train.steps import Row, read_steps
from warroom.train.warmstart import WarmStart

METHODS = ("dagger", "forks")
ROUNDS = {"dagger": 3, "forks": 2}


class SecondEachLook:
    """A clock on which a round takes a second; after `stop` rounds somebody presses Ctrl-C."""

    def __init__(self, interrupts: Interrupts, stop: int) -> None:
        self.interrupts, self.stop, self.looks = interrupts, stop, count()

    def __call__(self) -> float:
        look = next(self.looks)
        if look == 2 * self.stop - 1:
            self.interrupts.first = KeyboardInterrupt()
        return float(look)


def player(nano: Path, method: str) -> str:
    """What is taught: a team that plays at random does as badly after every call, and forks teach it nothing."""
    return "nano-start" if method == "forks" else str(nano)


def trained(nano: Path, folder: Path, method: str, *, stop: int = 0, resume: bool = False, **more: Any) -> Any:
    """The weights after a few rounds of a tiny learner, or after those that were made before it was stopped."""
    config = resolve_config({"model": player(nano, method), "method": method, "minutes": ROUNDS[method] / 60, **more})
    model, tokenizer, _ = load_base(config)
    learner: Any = make_learner(config, model, tokenizer)
    learner.incidents, learner.steps, learner.forks, learner.conversations = 1, 1, 2, 4
    folder.mkdir(exist_ok=True)
    interrupts = Interrupts(print, "")
    rounds = Rounds(folder, config, display=display(lambda _: None), interrupts=interrupts)
    if resume:
        rounds.resume(learner)
    rounds.train(learner, clock=SecondEachLook(interrupts, stop))
    return {name: weight.clone() for name, weight in model.state_dict().items()}


def same(one: Any, other: Any) -> bool:
    """Whether all weights are equal, bit for bit."""
    return all(torch.equal(one[name], other[name]) for name in one)


def without_seconds(folder: Path) -> list[Row]:
    """The rows of a run; processor seconds are measured, and differ."""
    return [{**row, "seconds": {}} for row in read_steps(folder)]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_run_by_rounds_that_was_cut_goes_on_to_the_same_weights(nano: Path, tmp_path: Path, method: str) -> None:
    """A crash between a round's row and its checkpoint is one of the cuts: the round is played again."""
    whole = trained(nano, tmp_path / "whole", method)
    cut = tmp_path / "cut"
    first = trained(nano, cut, method, stop=1)
    assert len(read_steps(cut)) == 1
    row = (cut / "steps.jsonl").read_text().replace('"step": 1', '"step": 2')
    with (cut / "steps.jsonl").open("a") as file:
        file.write(row + '{"step": 3, "ti')
    checkpoint_path(cut).with_name("round.pt.part").write_bytes(b"half of it")
    assert same(trained(nano, cut, method, resume=True), whole)
    assert without_seconds(cut) == without_seconds(tmp_path / "whole")
    assert not same(first, whole)


KILLED = """
import os, signal, sys
from pathlib import Path
from test_train_rounds import SecondEachLook, trained

look = SecondEachLook.__call__
def until_killed(clock):
    found = look(clock)
    if found == 3:  # the second round was played, and is not yet written down
        os.kill(os.getpid(), signal.SIGKILL)
    return found

SecondEachLook.__call__ = until_killed
trained(Path(sys.argv[1]), Path(sys.argv[2]), "dagger")
"""


@pytest.mark.slow
def test_a_killed_dagger_goes_on_to_the_same_weights(nano: Path, tmp_path: Path) -> None:
    whole, cut = trained(nano, tmp_path / "whole", "dagger"), tmp_path / "cut"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(nano), str(cut)], cwd=Path(__file__).parent, capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert len(read_steps(cut)) == 1
    assert same(trained(nano, cut, "dagger", resume=True), whole)


def test_a_damaged_checkpoint_is_refused_by_its_name(nano: Path, tmp_path: Path) -> None:
    path = checkpoint_path(tmp_path)
    path.parent.mkdir()
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(ValueError, match=r"round\.pt cannot be read"):
        trained(nano, tmp_path, "dagger", resume=True)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_frozen_weights_stay_what_they_were(nano: Path, tmp_path: Path, method: str) -> None:
    config = resolve_config({"model": player(nano, method), "method": method})
    start = load_base(config)[0].state_dict()
    assert same(trained(nano, tmp_path, method, control="frozen"), start)


def test_dagger_refuses_what_it_has_no_use_for(nano: Path, tmp_path: Path) -> None:
    words = ("train", "--model", nano, "--method", "dagger", "--out", tmp_path / "run")
    assert "its control is frozen" in refused(*words, "--control", "shuffled-reward")
    assert "leave --seats out" in refused(*words, "--seats", "sre")
    assert "over_limit" in refused(*words, "--leave-out", "ground=limit")
    assert "family" in refused(*words, "--leave-out", "agent=x")
    assert "needs --method" in refused("train", "--model", nano, "--leave-out", "family=backup")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_incidents_with_what_is_left_out_are_not_drawn() -> None:
    texts = ("family=backup", "ground=over_limit")
    left_out = parse_left_out("fleet", texts)
    everything, rest = (
        Teaching("fleet").incidents("easy", 60),
        Teaching("fleet", left_out=left_out).incidents("easy", 60),
    )
    assert any(is_left_out(env, left_out) for env in everything)
    assert not any(is_left_out(env, left_out) for env in rest)
    kept = [env.spec for env in everything if not is_left_out(env, left_out)]
    assert [env.spec for env in rest][: len(kept)] == kept
    assert any(rogues_of(env)["ground"] for env in rest)
    assert WarmStart(leave_out=texts).to_json()["leave_out"] == list(texts)
    assert "leave_out" not in WarmStart().to_json()
