"""Fine-tune a language model on the expert's play and its reasons, as a first step before `warroom train`.

    pip install '.[train]'    # a model of this size wants a GPU
    warroom eval --policies expert --split train --suite full --seeds 20 --out runs/expert
    warroom export runs/expert --format trl --reasons --out runs/expert.jsonl
    python examples/fine_tune_with_trl.py runs/expert.jsonl --model Qwen/Qwen2.5-1.5B-Instruct

Each line of the file is the conversation of one seat. Only what the seat writes is learnt: reasons and calls.
"""

import argparse
from typing import Any

from datasets import load_dataset
from trl import SFTConfig, SFTTrainer


def train(model: Any, file: str, out: str, tokenizer: Any = None, **config: Any) -> SFTTrainer:
    """Train and save. `config` goes to TRL's `SFTConfig`."""
    usual: dict[str, Any] = {
        "assistant_only_loss": True,
        "max_length": 16_384,  # of a whole conversation
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 16,
        "learning_rate": 1e-5,
        "num_train_epochs": 1,
        "logging_steps": 1,
        "report_to": "none",
    }
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(output_dir=out, **usual | config),
        train_dataset=load_dataset("json", data_files=file, split="train").select_columns(["messages", "tools"]),
        processing_class=tokenizer,
    )
    trainer.train()
    trainer.save_model(f"{out}/model")
    return trainer


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Fine-tune a model with TRL on exported conversations.")
    parser.add_argument("file", help="what `warroom export --format trl` wrote")
    parser.add_argument("--model", default="Qwen/Qwen2.5-1.5B-Instruct", help="a folder, or a name on the Hub")
    parser.add_argument("--out", default="runs/fine-tuned", help="where checkpoints and the model are written")
    given = parser.parse_args()
    train(given.model, given.file, given.out)


if __name__ == "__main__":
    main()
