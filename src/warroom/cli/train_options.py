"""The options of `warroom train`: one for each field of its configuration, with help that teaches."""

from pathlib import Path
from typing import Annotated

import typer

WHAT, SCRATCH, PLAY, LEARN, SIZE, STOP, SPEED, KEEP = (
    "What is trained",
    "A nano from nothing",
    "What it is trained on",
    "How it learns",
    "Sizes",
    "When a run is stopped",
    "Speed and memory",
    "What is kept",
)


def _option(panel: str, text: str, name: str | None = None) -> typer.models.OptionInfo:
    info: typer.models.OptionInfo = typer.Option(*([name] if name else []), help=text, rich_help_panel=panel)
    return info


Model = Annotated[
    str, _option(WHAT, "nano, a folder (a model's or an adapter's), or a Hub name such as Qwen/Qwen2.5-3B-Instruct.")
]
From = Annotated[
    str, _option(WHAT, "Which shipped weights the nano starts from: warm (imitation only) or trained.", "--from")
]
FromScratch = Annotated[
    bool,
    _option(
        SCRATCH, "Make the nano's warm start from random weights first, in OUT-start: minutes of imitation.",
        "--from-scratch",
    ),
]  # fmt: skip
Hidden = Annotated[int | None, _option(SCRATCH, "Width of the nano, a multiple of 16. Default: 64.")]
ExpertShare = Annotated[
    float | None,
    _option(
        SCRATCH,
        "Share of seats that the scripted expert plays in the demonstrations; naive scripts play the others, the "
        "oracle never does. Default: 0.85.",
    ),
]
WarmSteps = Annotated[
    int | None, _option(SCRATCH, "Steps of imitation, the last ones of good play only. Default: 2000.")
]
OnlyWarmStart = Annotated[
    bool, _option(SCRATCH, "Stop there, with the warm start itself as the folder --out.", "--only-warm-start")
]
LoraRank = Annotated[
    int | None,
    _option(WHAT, "Rank of the adapter; 0 trains all weights. Default: 16 for an LLM, 0 for the nano."),
]
LoraAlpha = Annotated[int | None, _option(WHAT, "Scale of the adapter. Default: twice the rank.")]
LoadIn4bit = Annotated[
    bool | None,
    _option(SPEED, "Hold the frozen weights in 4 bits (bitsandbytes): a third of the memory.", "--load-in-4bit"),
]
Env = Annotated[str | None, _option(PLAY, "Which environment. Default: fleet, or what the model was trained in.")]
Renderer = Annotated[
    str | None,
    _option(PLAY, "How observations and tools are worded: plain, or compact for the nano. Default: the model's own."),
]
Seats = Annotated[
    str | None, _option(PLAY, "Seats to train, by comma, all with the same weights. Default: every seat.")
]
Teammates = Annotated[
    str | None,
    _option(PLAY, "Who plays the other seats: expert, heuristic, a team by seat, or snapshot (the model as it began)."),
]
Server = Annotated[
    str | None,
    _option(
        PLAY,
        "Play the rollouts on a server (`warroom serve`), such as http://127.0.0.1:8000/fleet. Default: here.",
    ),
]
Suite = Annotated[
    str | None, _option(PLAY, "Which scenarios: a suite of `warroom list`. Held-out ones are never drawn.")
]
Task = Annotated[
    str | None, _option(PLAY, "Scenarios of the suite to train on, by comma, such as cascading_failure. Default: all.")
]
Episodes = Annotated[
    int | None,
    _option(PLAY, "Rollouts in all: the curriculum is made as long as that, its tiers in proportion."),
]
Curriculum = Annotated[
    str | None,
    _option(
        PLAY,
        "TIER:STEPS parts in any order, or adaptive:STEPS to stay where groups differ. "
        "Default: easy:200,medium:200,hard:200.",
    ),
]
Multiplier = Annotated[
    str | None,
    _option(
        PLAY,
        "Scales a caught rogue and a false positive alike; FROM:TO moves over the run. "
        "2.0 taught a 3B to catch rogues and to cry wolf; 2.0:1.0 ends at the true prices.",
        "--rogue-multiplier",
    ),
]
LearningRate = Annotated[
    float | None,
    _option(LEARN, "Default: 2e-5 for an LLM, 3e-4 for the nano. At 5e-6 a 1.5B did not move in 400 steps."),
]
Schedule = Annotated[
    str | None, _option(LEARN, "Of the learning rate: constant (default), or linear, which falls to nothing.")
]
Optimizer = Annotated[
    str | None,
    _option(LEARN, "adamw (default), or muon for the matrices inside the layers beside AdamW for the rest."),
]
Temperature = Annotated[
    float | None, _option(LEARN, "Of sampling, default 1.0. Lower explores less; the update assumes what was sampled.")
]
Beta = Annotated[
    float | None, _option(LEARN, "Weight of the KL divergence from the start, default 0. Above 0 costs a second pass.")
]
LossType = Annotated[
    str | None,
    _option(LEARN, "TRL's loss: dr_grpo (default, no bias by length), dapo, grpo, bnpo, cispo, sapo, vespo."),
]
ScaleRewards = Annotated[
    str | None,
    _option(
        LEARN,
        "Divide rewards by their spread in the group or batch; none by default, which keeps prices in proportion.",
    ),
]
Entropy = Annotated[
    float | None,
    _option(LEARN, "Weight of a bonus for entropy, default 0. It keeps a policy from settling too early; try 0.003."),
]
ConfidenceSteps = Annotated[
    int | None,
    _option(
        LEARN,
        "Steps after the last that teach only how sure to be of an answer, by the exact gradient over the words for it "
        "(tickets in the compact rendering); default 0, try 200.",
    ),
]
Seed = Annotated[int | None, _option(LEARN, "Of the incidents drawn and of sampling. Report three.")]
Control = Annotated[
    str | None,
    _option(LEARN, "A run that must not learn: frozen (no update), or shuffled-reward (rewards of other rollouts)."),
]
GroupSize = Annotated[
    int | None,
    _option(SIZE, "Rollouts of one incident, compared with one another, default 8. A group of equals teaches nothing."),
]
Groups = Annotated[int | None, _option(SIZE, "Incidents in a step, default 8.")]
CompletionLength = Annotated[
    int | None,
    _option(
        SIZE, "Tokens of a whole conversation after its first page, tool results included.", "--max-completion-length"
    ),
]
TurnTokens = Annotated[int | None, _option(SIZE, "Tokens that the model may write in one message.")]
MicroBatch = Annotated[
    int | None,
    _option(
        SPEED, "Rollouts that pass through the model at once; raise it until memory is full. Default: 1 for an LLM."
    ),
]
Vllm = Annotated[str | None, _option(SPEED, "Generate with vLLM: colocate (same card) or server (`trl vllm-serve`).")]
VllmServer = Annotated[str | None, _option(SPEED, "Where the vLLM server listens, default http://127.0.0.1:8000.")]
Unsloth = Annotated[bool | None, _option(SPEED, "Load through Unsloth, where it is installed.", "--unsloth")]
MaxKl = Annotated[
    float | None,
    _option(STOP, "KL divergence above which a run stops, default 5.0; a spike that falls back is let pass."),
]
MinEntropy = Annotated[float | None, _option(STOP, "Entropy below which a run stops, default 0.01 nats a token.")]
MinCalls = Annotated[
    float | None, _option(STOP, "Tool calls a rollout below which a run counts as collapsed, default 1.")
]
Patience = Annotated[
    int | None, _option(STOP, "Steps in a row that a rule must be broken, default 5. The best checkpoint is kept then.")
]
SaveEvery = Annotated[int | None, _option(KEEP, "Steps between checkpoints, default 50.")]
ReportTo = Annotated[
    str | None,
    _option(KEEP, "Also log to wandb, trackio, tensorboard and the like, by comma. The run folder has all of it."),
]
PushToHub = Annotated[
    str | None, _option(KEEP, "Repository for the trained weights and their card, made before the run.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "--output-dir", help="The run folder. Default: runs/train-MODEL-DATE-TIME.", rich_help_panel=KEEP
    ),
]
Resume = Annotated[bool, _option(KEEP, "Go on with the run in --out from its last checkpoint.", "--resume")]
PreflightOnly = Annotated[
    bool, _option(SPEED, "Load the model, check that it can be trained, show one prompt, and stop.", "--preflight-only")
]
Rehearse = Annotated[
    int,
    typer.Option(
        min=0,
        help="Groups that the model plays in the preflight, to see whether rewards differ; 0 skips this.",
        rich_help_panel=SPEED,
    ),
]
