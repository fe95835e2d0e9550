"""Exported conversations as a language model is fine-tuned on them: the very tokens that it will read and write."""

import os

os.environ.update(TRL_EXPERIMENTAL_SILENCE="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from command import printed
from test_examples import loaded
from tiny_model import saved, tiny_model, tiny_tokenizer
from warroom.core.types import ToolCall
from warroom.envs import make
from warroom.evals.export import TRL, conversations
from warroom.policies import hf, policy_set
from warroom.policies.model import HfPolicy
from warroom.rollout import play


def test_a_model_that_makes_the_same_calls_reads_and_writes_the_same_tokens(tmp_path: Path) -> None:
    player = hf.load(f"hf:{saved(tmp_path / 'tiny')}")
    tokenizer = player.tokenizer
    spec = "fleet/dns_outage@easy#train:5"
    episode, env = play(spec, policy_set("fleet", "expert")), make(spec)
    seat = HfPolicy(player, 0.0, env.brief("sre"), Random(0))
    for step in episode.steps:
        if step.seat == "sre":
            if seat.observe(env.observe()) is not None:
                break  # it has written as much as it may
            call = {"name": step.tool, "arguments": step.arguments}
            written = tokenizer(f"<tool_call>\n{json.dumps(call)}\n</tool_call><|im_end|>", add_special_tokens=False)
            assert seat.parse_output(written["input_ids"]) == ToolCall(step.tool, step.arguments)
        env.step(ToolCall(step.tool, step.arguments))
    (exported,) = [one for one in conversations(episode, TRL) if one["seat"] == "sre"]
    text = tokenizer.apply_chat_template(exported["messages"], tools=exported["tools"], tokenize=False)
    assert text.startswith(tokenizer.decode(seat.ids)) and len(seat.ids) > 500


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing:FutureWarning")  # TRL's own use of transformers
def test_trl_fine_tunes_on_an_export_and_learns_what_the_seat_writes(tmp_path: Path) -> None:
    words = ["--policies", "expert", "--split", "train", "--scenarios", "dns_outage", "--tiers", "easy", "--seeds", "1"]
    printed("eval", *words, "--workers", "1", "--out", tmp_path / "run")
    printed("export", tmp_path / "run", "--format", "trl", "--reasons", "--out", tmp_path / "play.jsonl")
    tokenizer = tiny_tokenizer()
    few: dict[str, Any] = {"max_steps": 1, "gradient_accumulation_steps": 1, "use_cpu": True, "bf16": False,
                           "max_length": 20_000, "disable_tqdm": True, "save_strategy": "no"}  # fmt: skip
    tune = loaded("fine_tune_with_trl").train
    trainer = tune(tiny_model(tokenizer), str(tmp_path / "play.jsonl"), str(tmp_path / "out"), tokenizer, **few)
    row = trainer.train_dataset[0]
    learnt = tokenizer.decode(
        [token for token, label in zip(row["input_ids"], row["labels"], strict=True) if label >= 0]
    )
    assert "is in alarm" in learnt and '"arguments": {' in learnt
    assert "service, requests/s" not in learnt, "what it reads is not learnt"
    assert list((tmp_path / "out" / "model").glob("*.safetensors"))
