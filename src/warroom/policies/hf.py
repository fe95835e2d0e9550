"""Models as policies: `hf:PATH` for any transformers model or PEFT adapter, `nano` for the one that ships.

Nothing heavy is imported before a model is to play; it is then loaded once per process. Whatever keeps it from loading
is an error: no other policy ever plays in its place.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from warroom.core.errors import UnknownName
from warroom.core.policy import Policy
from warroom.core.types import Brief
from warroom.envs import environments
from warroom.policies.manifest import read_manifest

if TYPE_CHECKING:
    from warroom.policies.model import HfModel

PREFIX = "hf:"
WEIGHTS = Path(__file__).parent / "weights"
"""Where the weights lie that ship with the package, one folder per policy."""
SHIPPED = ("nano", "nano-warm")
"""Names that always mean such weights, so that their absence is an error of its own."""
STARTS = {"nano": "nano-warm", "nano-trained": "nano"}
"""What training calls such weights, each with the name by which they play."""
DEFAULT_ENV = "fleet"
"""The environment whose weights bear these names as they are; those of another bear its name behind, as `nano-logs`."""
DECODINGS = {"greedy": 0.0, "sampled": 1.0}
"""Temperatures by name; the default is greedy, for every model."""


@dataclass(frozen=True)
class ModelChoice:
    """A model and how it is to play, as a policy's name says."""

    name: str
    path: str
    """A folder, or a name on the Hub."""
    temperature: float
    """0 takes the likeliest token; a model is trained at 1."""

    @property
    def decoding(self) -> str:
        """The temperature in words."""
        return "greedy" if self.temperature == 0 else f"sampled at temperature {self.temperature:g}"


def weights_name(env: str, name: str) -> str:
    """What `env` calls weights of its own, with the decoding behind; any other name means the same everywhere."""
    base, at, decoding = name.partition("@")
    return f"{base}-{env}{at}{decoding}" if env != DEFAULT_ENV and base in (*SHIPPED, *STARTS) else name


def pretrained_checkpoints() -> dict[str, Path]:
    """The folders of weights that ship, by the names that training gives them."""
    return {
        weights_name(env, start): WEIGHTS / weights_name(env, name)
        for env in environments()
        for start, name in STARTS.items()
    }


def is_model(name: str) -> bool:
    """Whether a policy's name means a model."""
    known = {weights_name(env, shipped) for env in environments() for shipped in SHIPPED}
    return name.startswith(PREFIX) or name.partition("@")[0] in known


def shipped(env: str) -> list[str]:
    """The models that ship with the package and were trained in `env`, by the names that they have there."""
    return [name for name in SHIPPED if read_manifest(WEIGHTS / weights_name(env, name)).get("env") == env]


def check_ships(env: str, name: str) -> None:
    """Refuse a name that means weights of the package where none ship for `env`; any other name passes."""
    base = name.partition("@")[0]
    if not name.startswith(PREFIX) and not (WEIGHTS / weights_name(env, base)).is_dir():
        there = ", ".join(shipped(env)) or "none"
        raise ValueError(f"no {base} ships for {env} (that do: {there}); a model of yours plays as {PREFIX}FOLDER")


def parse_model_name(name: str) -> ModelChoice:
    """Read `hf:PATH`, `hf:PATH@sampled`, `nano@0.7`; the decoding stands behind the last `@`."""
    path, at, decoding = name.removeprefix(PREFIX).rpartition("@")
    if not at:
        path, decoding = decoding, "greedy"
    elif _temperature(decoding) is None and Path(name.removeprefix(PREFIX)).exists():
        path, decoding = name.removeprefix(PREFIX), "greedy"
    temperature = _temperature(decoding)
    if temperature is None:
        raise UnknownName("decoding", decoding, [*DECODINGS, "a temperature above 0 such as 0.7"])
    if not path:
        raise ValueError(f"{name!r} names no model: write {PREFIX}FOLDER or {PREFIX}NAME-ON-THE-HUB")
    if not name.startswith(PREFIX):
        path = str(WEIGHTS / path)
    return ModelChoice(name, path, temperature)


def _temperature(text: str) -> float | None:
    if text in DECODINGS:
        return DECODINGS[text]
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value > 0 and isfinite(value) else None


@cache
def model_at(path: str) -> "HfModel":
    """The model of a folder or Hub name, once per process; a `ValueError` or `MissingExtra` says why it cannot load."""
    from warroom.policies.checkpoint import load
    from warroom.policies.model import HfModel

    return HfModel(load(path))


def are_small(names: Iterable[str]) -> bool:
    """Whether every process may hold these models; a large one, or one on a graphics card, is held once. Loads them."""
    return all(model_at(parse_model_name(name).path).small for name in dict.fromkeys(names))


def policy(choice: ModelChoice, brief: Brief, draws: Random) -> Policy:
    """A fresh seat for the model; `draws` decides what it samples."""
    from warroom.policies.model import HfPolicy

    return HfPolicy(model_at(choice.path), choice.temperature, brief, draws)


def versions() -> dict[str, str]:
    """The libraries that decide what a model says."""
    from importlib.metadata import version  # loads a mail parser, which is no business of who plays scripts

    return {name: version(name) for name in ("torch", "transformers", "tokenizers")}


def policy_status(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Which weights play under each of these names, after loading them: what a run folder notes."""
    out = {}
    for name in dict.fromkeys(names):
        choice = parse_model_name(name)
        out[name] = {"name": name, **model_at(choice.path).status, "decoding": choice.decoding}
    return out
