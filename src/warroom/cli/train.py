"""`warroom train`, `warroom card` and `warroom jobs`."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from warroom.cli import heavy
from warroom.cli import train_options as o
from warroom.cli.options import Calibration, Json, Mode, Topology, options_of
from warroom.cli.output import command_line, console, print_json, say
from warroom.core.errors import EpisodeAborted, UnknownName
from warroom.policies.manifest import read_manifest
from warroom.runs import RECORD
from warroom.train.config import TrainConfig
from warroom.train.preflight import PreflightReport, backend_check
from warroom.train.resolve_config import resolve_config
from warroom.train.rollout import RolloutBackend

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C stopped."""
STARTS = {"warm": "nano", "trained": "nano-trained"}
"""What `--from` means for the nano."""
LISTS = ("seats", "report_to")
SCRATCH = ("from_scratch", "hidden", "expert_share", "warm_steps", "only_warm_start")
"""Options that say how a nano is made from nothing."""


def train_command(
    context: typer.Context,
    model: o.Model,
    start: o.From = "warm",
    from_scratch: o.FromScratch = False,
    hidden: o.Hidden = None,
    expert_share: o.ExpertShare = None,
    warm_steps: o.WarmSteps = None,
    only_warm_start: o.OnlyWarmStart = False,
    lora_rank: o.LoraRank = None,
    lora_alpha: o.LoraAlpha = None,
    env: o.Env = None,
    renderer: o.Renderer = None,
    seats: o.Seats = None,
    teammates: o.Teammates = None,
    server: o.Server = None,
    suite: o.Suite = None,
    task: o.Task = None,
    episodes: o.Episodes = None,
    curriculum: o.Curriculum = None,
    rogue_multiplier: o.Multiplier = None,
    topology: Topology = None,
    mode: Mode = None,
    calibration: Calibration = None,
    learning_rate: o.LearningRate = None,
    schedule: o.Schedule = None,
    optimizer: o.Optimizer = None,
    temperature: o.Temperature = None,
    beta: o.Beta = None,
    loss_type: o.LossType = None,
    scale_rewards: o.ScaleRewards = None,
    entropy_coefficient: o.Entropy = None,
    confidence_steps: o.ConfidenceSteps = None,
    seed: o.Seed = None,
    control: o.Control = None,
    group_size: o.GroupSize = None,
    groups: o.Groups = None,
    max_completion_length: o.CompletionLength = None,
    turn_tokens: o.TurnTokens = None,
    max_kl: o.MaxKl = None,
    min_entropy: o.MinEntropy = None,
    min_calls: o.MinCalls = None,
    patience: o.Patience = None,
    micro_batch: o.MicroBatch = None,
    load_in_4bit: o.LoadIn4bit = None,
    vllm: o.Vllm = None,
    vllm_server: o.VllmServer = None,
    unsloth: o.Unsloth = None,
    preflight_only: o.PreflightOnly = False,
    rehearse: o.Rehearse = 4,
    save_every: o.SaveEvery = None,
    report_to: o.ReportTo = None,
    push_to_hub: o.PushToHub = None,
    out: o.Out = None,
    resume: o.Resume = False,
    json: Json = False,
) -> None:
    """Train a model with GRPO on the training split; write a learning curve, a summary and a model card.

    A rollout is one seat of one incident; teammates play the other seats. For several GPUs:
    accelerate launch -m warroom train ...

    Example: warroom train --model nano --curriculum easy:50,medium:50,hard:100 --out runs/nano
    """
    folder = _folder(out, "warm" if only_warm_start else "train", model, resume)
    config = configuration(context.params)
    if only_warm_start:
        _only_warm_start(config, context.params, folder)
        return
    with _backend(config, server) as backend:
        if from_scratch:
            config = _from_scratch(config, context.params, folder, resume)
        if preflight_only:
            _preflight(config, rehearse, backend)
            return
        summary = _train(config, folder, out, resume, rehearse, backend)
    if json:
        print_json(summary)
    elif summary:
        _print_summary(summary, folder)


def configuration(given: Mapping[str, Any]) -> TrainConfig:
    """The configuration that the options of `warroom train` mean, checked."""
    options = {name: value for name, value in given.items() if value is not None}
    for name in LISTS:
        if name in options:
            options[name] = tuple(word.strip() for word in str(options[name]).split(",") if word.strip())
    if given["start"] not in STARTS:
        raise UnknownName("start", given["start"], STARTS)
    needless = [name for name in SCRATCH[1:] if _is_given(given.get(name)) and not given["from_scratch"]]
    if needless:
        raise ValueError(f"--{needless[0].replace('_', '-')} needs --from-scratch")
    if given.get("server") and given.get("only_warm_start"):
        raise ValueError("a warm start learns from demonstrations played in-process; leave --server out")
    if given["model"] == "nano":
        options["model"] = STARTS[given["start"]]
    elif given["start"] != "warm" or given["from_scratch"]:
        raise ValueError(
            f"--from and --from-scratch are for --model nano; {given['model']} starts from its own weights"
        )
    return resolve_config(
        {
            **options,
            "options": options_of(
                topology=given["topology"], mode=given.get("mode"), calibration=given.get("calibration")
            ),
        }
    )


def _is_given(value: Any) -> bool:
    return value is not None and value is not False


def _from_scratch(config: TrainConfig, given: Mapping[str, Any], folder: Path, resume: bool) -> TrainConfig:
    """Make a warm start beside the run folder, unless it is there, and return the configuration that trains it."""
    start = folder.with_name(folder.name + "-start")
    if start.exists() and not resume:
        raise ValueError(f"{start} already holds a warm start; train it with --model {start}, or choose another --out")
    if folder.exists() and not resume:  # found out now, not after the minutes of a warm start
        raise ValueError(f"{folder} exists; choose another --out, or resume the run in it with --resume")
    _warm_start(config, given, start)
    return configuration({**given, **dict.fromkeys(SCRATCH), "model": str(start), "start": "warm"})


def _only_warm_start(config: TrainConfig, given: Mapping[str, Any], folder: Path) -> None:
    _warm_start(config, given, folder)
    say(f"evaluate it: warroom eval --policies heuristic,expert,hf:{folder} --seeds 20")


def _warm_start(config: TrainConfig, given: Mapping[str, Any], folder: Path) -> None:
    """Make a nano from nothing in `folder`; one that is there already has to be the very one that would be made."""
    warmstart = heavy.warmstart
    plan = warmstart.plan_for(given["hidden"], given["expert_share"], given["warm_steps"], config.seed, config.env)
    if folder.exists():
        if read_manifest(folder).get("warm_start") != plan.to_json():
            raise ValueError(f"{folder} does not hold the warm start that these options make; choose another --out")
        say(f"reusing the warm start in {folder}")
        return
    say(f"training a warm start from random weights -> {folder}")
    try:
        with heavy.loading.quiet(), heavy.callbacks.phases_shown(say) as watch:
            warmstart.make_nano(folder, plan, config.env, watch)
    except KeyboardInterrupt:
        say("\nStopped; an unfinished warm start is not kept.", "yellow")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _backend(config: TrainConfig, server: str | None) -> Iterator[RolloutBackend | None]:
    """The server that plays the rollouts, if one was named, once it was seen to play as this process does."""
    if server is None:
        yield None
        return

    with heavy.remote.RemoteBackend(server, config.env, config.renderer, config.teammates) as backend:
        report = PreflightReport((backend_check(config, backend),), "")
        say(report.render())
        report.require()
        yield backend


def _preflight(config: TrainConfig, rehearse: int, backend: RolloutBackend | None) -> None:
    report = heavy.runner.rehearse(config, rehearse, backend=backend).report
    print(report.prompt)
    print(report.render())
    report.require()


def _train(
    config: TrainConfig, folder: Path, out: Path | None, resume: bool, rehearse: int, backend: RolloutBackend | None
) -> dict[str, Any]:
    command, again = _typed(out, folder, resume=False), _typed(out, folder, resume=True)
    try:
        summary, interrupted = heavy.runner.train(
            config, folder, command=command, log_line=say, resume=resume, sampled_groups=rehearse, backend=backend
        )
    except EpisodeAborted as error:
        if not (folder / RECORD).is_file():  # nothing has begun
            raise
        kept = "the last checkpoint is kept" if heavy.grpo.last_checkpoint(folder) else "no checkpoint was due yet"
        raise ValueError(f"{error}; {kept}. Resume with: {again}") from error
    except KeyboardInterrupt:
        say(f"\nStopped at once; the last checkpoint is kept. Resume with:\n  {again}", "yellow")
        raise typer.Exit(INTERRUPTED) from None
    if interrupted:
        say(
            f"\nStopped after step {summary.get('steps', 0)}; its checkpoint is kept. Resume with:\n  {again}", "yellow"
        )
        raise typer.Exit(INTERRUPTED)
    return summary


def _typed(out: Path | None, folder: Path, resume: bool) -> str:
    """The command as it was typed, made to name its folder."""
    more = [] if out else ["--out", str(folder)]
    return command_line(*more, *(["--resume"] if resume and "--resume" not in sys.argv else []))


def _folder(out: Path | None, kind: str, model: str, resume: bool) -> Path:
    """Where the run goes."""
    if resume and out is None:
        raise ValueError("--resume needs --out: the run folder to resume")
    return out or Path("runs") / f"{kind}-{_short(model)}-{datetime.now():%Y%m%d-%H%M%S}"


def _short(model: str) -> str:
    return model.rstrip("/").rpartition("/")[2] or "model"


def _print_summary(summary: Mapping[str, Any], folder: Path) -> None:
    """First and last rewards by tier, why the run ended, and where things are."""
    table = Table(title="mean score of rollouts (0: do nothing, 1: oracle) on the training split", title_justify="left")
    table.add_column("tier")
    for heading in ("steps", "first 10 steps", "last 10 steps", "mean", "least", "most"):
        table.add_column(heading, justify="right")
    for tier, row in summary["by_tier"].items():
        figures = [f"{row[name]:+.3f}" for name in ("first", "last", "mean", "min", "max")]
        table.add_row(tier, str(row["steps"]), *figures)
    screen = console()
    screen.print(table)
    if summary["stopped"] != "finished":
        say(f"stopped: {summary['stopped']}", "yellow")
    share = summary["environment_share"]
    screen.print(Text(f"weights of step {summary['weights_step']}; environment {share or 0:.1%} of the time"))
    for what, place in (("model and card", "model"), ("learning curve", "learning_curve.png")):
        screen.print(Text(f"{what}: {folder / place}"))
    screen.print(Text(f"evaluate it: warroom eval --policies heuristic,expert,hf:{folder / 'model'} --seeds 20"))
