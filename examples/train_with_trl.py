"""Train a language model with TRL's GRPO to play some seats of incidents: here, those of oversight and the manager.

    pip install '.[train]'    # a model of this size wants a GPU
    python examples/train_with_trl.py --model Qwen/Qwen2.5-1.5B-Instruct --steps 200 --seats oversight,manager

Teammates play the other seats. `warroom train` does the same and more: its trainer knows when an incident is over, and
it has a curriculum, a preflight, and rules that stop a run that goes wrong.
"""

import argparse
from collections.abc import Sequence
from typing import Any

from trl import GRPOConfig, GRPOTrainer

import warroom
from warroom.integrations.trl import rows, seat_environment


def train(model: Any, seats: Sequence[str], out: str, steps: int, tokenizer: Any = None, **config: Any) -> GRPOTrainer:
    """Train and save. `config` goes to TRL's `GRPOConfig`."""
    usual: dict[str, Any] = {
        "num_generations": 8,
        "per_device_train_batch_size": 8,
        "max_completion_length": 4096,  # of a whole rollout, what tools answer included
        "max_tool_calling_iterations": 40,  # TRL does not know when an incident is over
        "learning_rate": 2e-6,
        "activation_checkpointing": True,  # rollouts are long: time for memory
        "logging_steps": 1,
        "report_to": "none",
    }
    environments: dict[str, Any] = {seat: seat_environment(seat, teammates="expert") for seat in seats}
    trainer = GRPOTrainer(
        model=model,
        args=GRPOConfig(output_dir=out, max_steps=steps, **usual | config),
        train_dataset=rows(warroom.tasks("fleet", split="train", seeds=20), seats),
        processing_class=tokenizer,
        environment_factory=environments,
    )
    trainer.train()
    trainer.save_model(f"{out}/model")
    return trainer


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Train a model with TRL on incidents of Warroom.")
    parser.add_argument("--model", default="Qwen/Qwen2.5-1.5B-Instruct", help="a folder, or a name on the Hub")
    parser.add_argument("--seats", default="oversight,manager", help="seats of fleet, each trained for itself")
    parser.add_argument("--steps", type=int, default=200, help="updates of the model")
    parser.add_argument("--out", default="runs/trl", help="where checkpoints and the model are written")
    given = parser.parse_args()
    train(given.model, given.seats.split(","), given.out, given.steps)


if __name__ == "__main__":
    main()
