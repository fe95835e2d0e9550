"""Each example runs as it stands."""

import os

os.environ.update(TRL_EXPERIMENTAL_SILENCE="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
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
    there = {path.name for path in EXAMPLES.glob("*.py")}
    assert there == set(re.findall(r"[a-z_]+\.py", commands))
    assert there == set(re.findall(r"\]\(([a-z_]+\.py)\)", page))


# -- a scenario in a file of one's own ---------------------------------------------------------------


@pytest.mark.slow
def test_a_scenario_in_a_file_is_played_and_certified() -> None:
    mine = "fleet/examples/crowded_day.py"
    rows = json.loads(warroom("certify", "--scenarios", mine, "--seeds", 2, "--json"))["rows"]
    assert len(rows) == 6  # the exit code says that all of them are valid
    episode = json.loads(warroom("play", mine, "--tier", "hard", "--policy", "oracle", "--json"))
    assert episode["truth"]["change"] is None and episode["outcome"]["solved"], "the page is for a failure of nature"


# -- TRL against a server ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Where a server of fleet listens."""
    command = [sys.executable, "-m", "warroom", "serve", "--env", "fleet", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        said = server.stderr.readline()
        found = re.search(r"http://[\d.:]+", said)
        assert found is not None, said + server.stderr.read()
        yield found.group()
        server.terminate()


@pytest.fixture(scope="module")
def example() -> ModuleType:
    pytest.importorskip("trl")
    return loaded("train_with_trl")


@pytest.mark.slow
def test_a_rollout_plays_the_incident_of_its_row_to_the_end(example: ModuleType, url: str) -> None:
    example.Oversight._url = url
    rollout, again = example.Oversight(), example.Oversight()
    page = rollout.reset(index=3, prompt=[])
    assert "oversight" in page and page == again.reset(index=3)
    service = re.findall(r"\b(gateway)\b", page)[0]
    assert service in rollout.traces(service)
    assert "no service 'nowhere'" in again.traces("nowhere")
    rollout.wait()
    scores = rollout.get_reward(), again.get_reward()
    assert all(-1 <= score <= 1 for score in scores)
    assert "is over" in rollout.wait() and rollout.get_reward() == scores[0]


@pytest.mark.slow
def test_the_tools_are_those_of_the_seat(example: ModuleType, url: str) -> None:
    from warroom.serve.client import Client

    with Client(url) as client:
        told = client.reset(split="train", index=0, seats="oversight").tools
    public = {name for name in vars(example.Oversight) if not name.startswith("_")} - {"reset", "get_reward"}
    assert public == {schema["name"] for schema in told}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing:FutureWarning")  # TRL's own use of transformers
def test_trl_trains_against_the_server(example: ModuleType, url: str, tmp_path: Path) -> None:
    from tiny_model import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer()
    few: dict[str, Any] = {
        "num_generations": 2, "per_device_train_batch_size": 2, "max_completion_length": 64, "use_cpu": True,
        "bf16": False, "activation_checkpointing": False, "disable_tqdm": True, "save_strategy": "no",
    }  # fmt: skip
    trainer = example.train(tiny_model(tokenizer), url, str(tmp_path), 2, tokenizer, **few)
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert len(steps) == 2 and all(-1 <= entry["reward"] <= 1 for entry in steps)
    assert list((tmp_path / "model").glob("*.safetensors"))
