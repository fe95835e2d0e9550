"""A nano for tests, taught within a second to write calls at random: a folder as training leaves one."""

import json
import os
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

AGENTS = ("autoscaler", "deploy_bot", "cache_janitor", "cert_bot")


def tokenizer() -> Any:
    from warroom.envs import environments
    from warroom.train.nano import nano_tokenizer

    lexicon = environments()["fleet"].lexicon
    assert lexicon is not None
    return nano_tokenizer(lexicon())


def babbling(words: Any, steps: int = 60) -> Any:
    """A model that has learnt the form of a call and nothing else."""
    import torch

    from warroom.envs.fleet.shorthand import SLOT, TOOLS
    from warroom.train.nano import NanoShape, nano_model

    model = nano_model(words, NanoShape(hidden=32, layers=("conv", "full_attention"), heads=2, feed_forward=64), seed=1)
    learning, rng = torch.optim.Adam(model.parameters(), lr=1e-2), Random(0)
    everything = sorted(words.get_vocab())

    def line() -> list[int]:
        turns = [f"<u> {' '.join(rng.choices(everything, k=6))}"]
        for _ in range(3):
            call = f"{rng.choice(TOOLS)} {rng.choice(SLOT[:8])} <e>"
            turns.append(f"<a> {call} <t> {' '.join(rng.choices(everything, k=3))}")
        return list(words(" ".join(turns), add_special_tokens=False)["input_ids"])

    torch.manual_seed(0)
    for _ in range(steps):
        ids = torch.tensor([line() for _ in range(16)])
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        learning.step()
        learning.zero_grad()
    return model.eval()


def save(folder: Path, model: Any, words: Any, **manifest: Any) -> Path:
    """The folder of a model with its manifest."""
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    known = {"language": "shorthand", "env": "fleet", "max_completion_length": 1500, "turn_tokens": 8}
    (folder / "warroom.json").write_text(json.dumps(known | manifest))
    return folder
