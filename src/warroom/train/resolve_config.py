"""From the options of a command to a whole configuration: defaults by kind of model, and everything checked at once."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from importlib.util import find_spec
from math import gcd, isfinite
from pathlib import Path
from typing import Any

from warroom.core.errors import NotInstalled, UnknownName
from warroom.core.options import Options
from warroom.envs import env_spec, environments
from warroom.policies.hf import DEFAULT_ENV, pretrained_checkpoints, weights_name
from warroom.policies.manifest import read_manifest
from warroom.train.config import CONTROLS, OPTIMIZERS, SCHEDULES, SNAPSHOT, TrainConfig

NANO: dict[str, Any] = {
    "renderer": "compact", "learning_rate": 3e-4, "max_completion_length": 512, "turn_tokens": 16, "micro_batch": 16,
}  # fmt: skip
"""A model of a few million weights: all of them are trained, at a rate that would ruin a large one."""
LLM: dict[str, Any] = {"renderer": "plain", "learning_rate": 2e-5, "lora_rank": 16, "micro_batch": 1}
"""A language model: an adapter beside frozen weights, one rollout at a time through the model."""
LOSSES = ("bnpo", "cispo", "dapo", "dr_grpo", "grpo", "sapo", "vespo")
SCALINGS = ("batch", "group", "none")
REPORTERS = ("clearml", "comet_ml", "mlflow", "neptune", "swanlab", "tensorboard", "trackio", "wandb")


def _positive(value: float) -> bool:
    return value > 0 and isfinite(value)


def _not_negative(value: float) -> bool:
    return value >= 0 and isfinite(value)


LIMITS: dict[str, tuple[Callable[[float], bool], str]] = {
    "learning_rate": (_positive, "a number above 0"),
    "temperature": (_positive, "a number above 0"),
    "group_size": (lambda value: value >= 2, "2 or more: rollouts of a group are compared with one another"),
    "groups": (lambda value: value >= 1, "1 or more"),
    "beta": (_not_negative, "0 or more"),
    "entropy_coefficient": (_not_negative, "0 or more"),
    "confidence_steps": (_not_negative, "0 or more"),
    "max_completion_length": (lambda value: value >= 16, "16 tokens or more"),
    "turn_tokens": (lambda value: value >= 2, "2 tokens or more"),
    "lora_rank": (_not_negative, "0 (all weights) or more"),
    "lora_alpha": (_not_negative, "0 (twice the rank) or more"),
    "micro_batch": (_not_negative, "0 (all of a step) or more"),
    "save_every": (lambda value: value >= 1, "1 or more"),
    "max_kl": (_positive, "a number above 0"),
    "min_entropy": (_not_negative, "0 or more"),
    "min_calls": (_not_negative, "0 or more"),
    "patience": (lambda value: value >= 1, "1 or more"),
}
"""What each number has to be, and how that is said."""


def resolve_config(options: Mapping[str, Any]) -> TrainConfig:
    """The configuration of a run: the options that were given, and for the rest what suits the model.

    A model's own manifest decides its renderer and lengths: it goes on as it was trained. A `ValueError` names the
    first option that is wrong and what it may be.
    """
    known = {field.name for field in fields(TrainConfig)}
    given = {name: value for name, value in options.items() if name in known - {"options"} and value is not None}
    given["model"] = weights_name(given.get("env", DEFAULT_ENV), str(given["model"]))
    config = TrainConfig(**{**defaults(given["model"]), **given})
    if (episodes := options.get("episodes")) is not None:
        config = replace(config, curriculum=_with_episodes(config, episodes))
    config = replace(config, options=_options(config, options.get("options", {})))
    if "micro_batch" not in given:
        config = replace(config, micro_batch=gcd(config.micro_batch, config.groups * config.group_size))
    check(config)
    return config


def _options(config: TrainConfig, given: Mapping[str, object]) -> Options:
    """The environment's own options: those that were given, and those that its compact rendering needs."""
    environment = env_spec(config.env)
    needed = environment.compact_options if config.renderer == "compact" else {}
    return environment.options.parse({**needed, **given}, config.env)


def confidence_tokens(env: str, renderer: str) -> tuple[str, ...]:
    """The words in which a model says how sure it is; a `ValueError` if its renderer has none."""
    compact_vocab = environments()[env].compact_vocab
    words = compact_vocab().confidence_words if compact_vocab is not None and renderer == "compact" else ()
    if not words:
        raise ValueError(f"{env} in {renderer} has no words for confidence; leave --confidence-steps out")
    return words


def _with_episodes(config: TrainConfig, episodes: int) -> str:
    """The curriculum with as many rollouts in all, to the nearest step."""
    from warroom.train.curriculum import rescaled_curriculum

    if episodes < 1:
        raise ValueError(f"--episodes must be 1 or more, got {episodes}")
    return rescaled_curriculum(config.curriculum, max(1, round(episodes / (config.groups * config.group_size))))


def defaults(model: str) -> dict[str, Any]:
    """What suits a model, unless its command says otherwise."""
    said = read_manifest(local_folder(model))
    kept: dict[str, Any] = {
        name: said[name] for name in ("renderer", "env", "max_completion_length", "turn_tokens") if name in said
    }
    nano = model in pretrained_checkpoints() or kept.get("renderer") == "compact"
    rank = _rank(local_folder(model))
    adapter: dict[str, Any] = {} if rank is None else {"lora_rank": rank}
    return {**(NANO if nano else LLM), **kept, **adapter}


def local_folder(model: str) -> Path:
    """Where a model lies if it is on this machine; a path that does not exist for one of the Hub."""
    return pretrained_checkpoints().get(model, Path(model).expanduser())


def _rank(folder: Path) -> int | None:
    """The rank of the adapter in a folder: it is trained on with the one that it has."""
    path = folder / "adapter_config.json"
    if not path.is_file():
        return None
    return int(json.loads(path.read_text(encoding="utf-8")).get("r", 0))


def check(config: TrainConfig) -> None:
    """Raise an error for the first thing that is wrong; reads no weights."""
    for name, (fits, words) in LIMITS.items():
        value = getattr(config, name)
        if not fits(value):
            raise ValueError(f"--{name.replace('_', '-')} must be {words}, got {value}")
    _check_names(config)
    _check_play(config)
    for reporter in config.report_to:
        if find_spec(reporter) is None:
            raise NotInstalled(reporter, reporter)
    total = config.groups * config.group_size
    if config.micro_batch and total % config.micro_batch:
        raise ValueError(
            f"--micro-batch must divide the {total} rollouts of a step ({config.groups} groups of "
            f"{config.group_size}), got {config.micro_batch}"
        )


def _check_names(config: TrainConfig) -> None:
    closed: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
        ("loss type", config.loss_type, LOSSES),
        ("scaling of rewards", config.scale_rewards, SCALINGS),
        ("control", config.control, CONTROLS),
        ("optimizer", config.optimizer, OPTIMIZERS),
        ("schedule", config.schedule, SCHEDULES),
        ("vllm mode", config.vllm, ("colocate", "server")),
        *(("reporter", reporter, REPORTERS) for reporter in config.report_to),
    )
    for kind, got, allowed in closed:
        if got is not None and got not in allowed:
            raise UnknownName(kind, got, allowed)


def _check_play(config: TrainConfig) -> None:
    """Environment, renderer, seats, teammates, curriculum and multiplier."""
    from warroom.policies import policy_set
    from warroom.train.curriculum import Curriculum

    if config.env not in environments():
        raise UnknownName("environment", config.env, environments())
    renderers = environments()[config.env].renderers
    if config.renderer not in renderers:
        raise UnknownName("renderer", config.renderer, renderers)
    if config.teammates != SNAPSHOT:
        policy_set(config.env, config.teammates)
    Curriculum(config)
    if config.confidence_steps:
        confidence_tokens(config.env, config.renderer)
