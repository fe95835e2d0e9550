"""The options of `warroom train`: one for each field of its configuration, with its help."""

from pathlib import Path
from typing import Annotated

import typer

WHAT, SCRATCH, PLAY, LEARN, SIZE, STOP, SPEED, KEEP = (
    "Model",
    "A nano from scratch",
    "Training data",
    "Optimization",
    "Batch sizes",
    "Early stopping",
    "Speed and memory",
    "Output",
)


def _option(panel: str, text: str, name: str | None = None) -> typer.models.OptionInfo:
    info: typer.models.OptionInfo = typer.Option(*([name] if name else []), help=text, rich_help_panel=panel)
    return info


Model = Annotated[
    str,
    _option(WHAT, "Model to train: nano, a folder (model or adapter), or a Hub name such as Qwen/Qwen2.5-3B-Instruct."),
]
From = Annotated[
    str, _option(WHAT, "Shipped weights that the nano starts from: warm (imitation only) or trained.", "--from")
]
FromScratch = Annotated[
    bool,
    _option(
        SCRATCH, "First make the nano's warm start from random weights, in OUT-start: minutes of imitation learning.",
        "--from-scratch",
    ),
]  # fmt: skip
Hidden = Annotated[int | None, _option(SCRATCH, "Hidden size of the nano, a multiple of 16. Default: 64.")]
ExpertShare = Annotated[
    float | None,
    _option(
        SCRATCH,
        "Share of seats played by the scripted expert in the demonstrations; naive scripts play the rest, the "
        "oracle none. Default: 0.85.",
    ),
]
WarmSteps = Annotated[
    int | None, _option(SCRATCH, "Steps of imitation learning, the last of them on good episodes only. Default: 2000.")
]
OnlyWarmStart = Annotated[
    bool, _option(SCRATCH, "Stop after the warm start, and write it to --out.", "--only-warm-start")
]
LoraRank = Annotated[
    int | None,
    _option(WHAT, "LoRA rank; 0 trains all weights. Default: 16 for an LLM, 0 for the nano."),
]
LoraAlpha = Annotated[int | None, _option(WHAT, "LoRA alpha. Default: twice the rank.")]
LoadIn4bit = Annotated[
    bool | None,
    _option(SPEED, "Load the frozen weights in 4 bits (bitsandbytes): a third of the memory.", "--load-in-4bit"),
]
Env = Annotated[str | None, _option(PLAY, "Environment. Default: the one the model was trained in, else fleet.")]
Renderer = Annotated[
    str | None,
    _option(PLAY, "How observations and tools are rendered: plain, or compact for the nano. Default: the model's."),
]
Seats = Annotated[
    str | None, _option(PLAY, "Seats to train, comma-separated, with shared weights. Default: every seat.")
]
Teammates = Annotated[
    str | None,
    _option(PLAY, "Policies of the other seats: expert, heuristic, one per seat, or snapshot (the initial model)."),
]
Server = Annotated[
    str | None,
    _option(
        PLAY,
        "Play rollouts on a server (`warroom serve`), such as http://127.0.0.1:8000/fleet. Default: in-process.",
    ),
]
Suite = Annotated[
    str | None, _option(PLAY, "Suite of scenarios; see `warroom list`. Held-out scenarios are never drawn.")
]
Task = Annotated[
    str | None, _option(PLAY, "Scenarios of the suite to train on, comma-separated, such as cascade. Default: all.")
]
Episodes = Annotated[
    int | None,
    _option(PLAY, "Total number of rollouts: the curriculum is scaled to it, its tiers in proportion."),
]
Curriculum = Annotated[
    str | None,
    _option(
        PLAY,
        "TIER:STEPS parts in any order, or adaptive:STEPS to stay where rewards differ within groups. "
        "Default: easy:200,medium:200,hard:200.",
    ),
]
Multiplier = Annotated[
    str | None,
    _option(
        PLAY,
        "Scales the points for a rogue agent caught and for a false positive; FROM:TO anneals over the run. "
        "2.0 taught a 3B model to catch rogues but also false alarms; 2.0:1.0 ends at the true values.",
        "--rogue-multiplier",
    ),
]
LearningRate = Annotated[
    float | None,
    _option(LEARN, "Learning rate. Default: 2e-5 for an LLM, 3e-4 for the nano."),
]
Schedule = Annotated[str | None, _option(LEARN, "Learning rate schedule: constant (default), or linear decay to 0.")]
Optimizer = Annotated[
    str | None,
    _option(LEARN, "Optimizer: adamw (default), or muon for the matrices inside the layers with AdamW for the rest."),
]
Temperature = Annotated[float | None, _option(LEARN, "Sampling temperature. Lower explores less. Default: 1.0.")]
Beta = Annotated[
    float | None,
    _option(
        LEARN, "Weight of the KL divergence from the initial model; above 0 costs a second forward pass. Default: 0."
    ),
]
LossType = Annotated[
    str | None,
    _option(LEARN, "Loss of TRL: dr_grpo (default, no length bias), dapo, grpo, bnpo, cispo, sapo, vespo."),
]
ScaleRewards = Annotated[
    str | None,
    _option(
        LEARN,
        "Divide rewards by their standard deviation: group, batch or none (default, keeps rewards in proportion).",
    ),
]
Entropy = Annotated[
    float | None,
    _option(LEARN, "Weight of an entropy bonus, against premature convergence; try 0.003. Default: 0."),
]
ConfidenceSteps = Annotated[
    int | None,
    _option(
        LEARN,
        "Extra steps at the end that train only the confidence of an answer, by the exact gradient over its words "
        "(tickets with the compact renderer); try 200. Default: 0.",
    ),
]
Seed = Annotated[int | None, _option(LEARN, "Seed of incidents and sampling. Report results over three seeds.")]
Control = Annotated[
    str | None,
    _option(
        LEARN, "Control run that must not learn: frozen (no updates), or shuffled-reward (rewards of other rollouts)."
    ),
]
GroupSize = Annotated[
    int | None,
    _option(SIZE, "Rollouts per incident; a group with equal rewards has no gradient. Default: 8."),
]
Groups = Annotated[int | None, _option(SIZE, "Incidents per step. Default: 8.")]
CompletionLength = Annotated[
    int | None,
    _option(
        SIZE,
        "Maximum tokens of a conversation after the first observation, tool results included.",
        "--max-completion-length",
    ),
]
TurnTokens = Annotated[int | None, _option(SIZE, "Maximum tokens per message of the model.")]
MicroBatch = Annotated[
    int | None,
    _option(SPEED, "Rollouts per forward and backward pass; raise it until memory is full. Default: 1 for an LLM."),
]
Vllm = Annotated[str | None, _option(SPEED, "Generate with vLLM: colocate (same GPU) or server (`trl vllm-serve`).")]
VllmServer = Annotated[str | None, _option(SPEED, "URL of the vLLM server. Default: http://127.0.0.1:8000.")]
Unsloth = Annotated[bool | None, _option(SPEED, "Load the model with Unsloth, if it is installed.", "--unsloth")]
MaxKl = Annotated[
    float | None,
    _option(STOP, "Stop above this KL divergence; a single spike is tolerated. Default: 5.0."),
]
MinEntropy = Annotated[float | None, _option(STOP, "Stop below this entropy in nats per token. Default: 0.01.")]
MinCalls = Annotated[float | None, _option(STOP, "Stop below this number of tool calls per rollout. Default: 1.")]
Patience = Annotated[
    int | None,
    _option(STOP, "Consecutive steps of a violation before the run stops; the best checkpoint is kept. Default: 5."),
]
SaveEvery = Annotated[int | None, _option(KEEP, "Steps between checkpoints. Default: 50.")]
ReportTo = Annotated[
    str | None,
    _option(KEEP, "Also log to wandb, trackio, tensorboard, ..., comma-separated. The run folder has everything."),
]
PushToHub = Annotated[
    str | None, _option(KEEP, "Hub repository for the trained weights and their card, created before the run.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "--output-dir", help="Run folder. Default: runs/train-MODEL-DATE-TIME.", rich_help_panel=KEEP
    ),
]
Resume = Annotated[bool, _option(KEEP, "Resume the run in --out from its last checkpoint.", "--resume")]
PreflightOnly = Annotated[
    bool, _option(SPEED, "Load the model, check that it can be trained, show one prompt, and exit.", "--preflight-only")
]
Rehearse = Annotated[
    int,
    typer.Option(
        min=0,
        help="Groups to sample in the preflight, to check that rewards differ; 0 skips it.",
        rich_help_panel=SPEED,
    ),
]
