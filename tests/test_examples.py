"""Each example runs as it stands."""

import os

os.environ.update(TRL_EXPERIMENTAL_SILENCE="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def warroom(*arguments: object) -> str:
    command = [sys.executable, "-m", "warroom", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_lists_every_example_with_a_command_that_names_it() -> None:
    page = (EXAMPLES / "README.md").read_text()
    commands = "\n".join(re.findall(r"```bash\n(.*?)```", page, re.DOTALL))
    there = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.py")}
    assert there - {"integrations/scripted_model.py"} == set(re.findall(r"examples/([a-z_/]+\.py)", commands))
    assert there == set(re.findall(r"\]\(([a-z_/]+\.py)\)", page))


# -- a scenario in a file of one's own ---------------------------------------------------------------


@pytest.mark.slow
def test_a_scenario_in_a_file_is_played_and_certified() -> None:
    mine = "fleet/examples/crowded_day.py"
    rows = json.loads(warroom("certify", "--scenarios", mine, "--seeds", 2, "--json"))["rows"]
    assert len(rows) == 6  # the exit code says that all of them are valid
    episode = json.loads(warroom("play", mine, "--tier", "hard", "--policy", "oracle", "--json"))
    assert episode["truth"]["change"] is None and episode["outcome"]["solved"], "the page is for a fault"


# -- TRL ---------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing:FutureWarning")  # TRL's own use of transformers
def test_trl_trains_two_seats_and_silence_costs(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    from tiny_model import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer()
    few: dict[str, Any] = {
        "num_generations": 2, "per_device_train_batch_size": 4, "max_completion_length": 64, "use_cpu": True,
        "bf16": False, "activation_checkpointing": False, "disable_tqdm": True, "save_strategy": "no",
    }  # fmt: skip
    train = loaded("train_with_trl").train
    trainer = train(tiny_model(tokenizer), ["sre", "manager"], str(tmp_path), 1, tokenizer, **few)
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert len(steps) == 1 and all(entry["reward"] < 0 for entry in steps), "its words call no tool"
    assert list((tmp_path / "model").glob("*.safetensors"))
