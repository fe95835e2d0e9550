"""Where a model's files are: in the package, in a folder, or on the Hub. A name that leads nowhere is an error."""

import json
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from warroom.core.errors import MissingExtra, quote_input
from warroom.core.types import JsonObject
from warroom.policies.hf import pretrained_checkpoints

try:
    from huggingface_hub import errors, snapshot_download
except ImportError as error:
    raise MissingExtra("train", error) from error

WEIGHTS = ("*.safetensors", "pytorch_model*.bin", "adapter_model.bin")
DESCRIPTION = ("*.json", "*.jinja", "*.txt", "*.model")
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "tekken.json")
"""Files of which a tokenizer has one. Without them transformers makes an empty tokenizer and says nothing."""


class ModelFiles(NamedTuple):
    """Folders that a model is loaded from."""

    base: Path
    adapter: Path | None
    """A folder with a PEFT adapter that is trained on."""
    tokenizer: Path


def find_model(name: str) -> ModelFiles:
    """The folders behind a model's name; one on the Hub is downloaded."""
    folder = folder_of(name)
    if not (folder / "adapter_config.json").is_file():
        return ModelFiles(folder, None, folder)
    if not weight_files(folder):
        raise ValueError(f"{folder} holds adapter_config.json and no adapter weights (adapter_model.safetensors)")
    named = adapter_config(folder).get("base_model_name_or_path")
    if not named:
        raise ValueError(f"{folder} is an adapter whose adapter_config.json names no base model; add the name there")
    try:
        base = folder_of(str(named))
    except ValueError as problem:
        raise ValueError(f"{folder} is an adapter, and its base cannot be loaded: {problem}") from problem
    return ModelFiles(base, folder, folder if has_tokenizer(folder) else base)


def folder_of(name: str) -> Path:
    """The folder of a shipped model, of a path, or of a Hub name."""
    if name in pretrained_checkpoints():
        return _shipped(name)
    path = Path(name).expanduser()
    if path.is_dir():
        return _checked(path)
    if path.is_file():
        raise ValueError(f"{name} is a file; --model takes the folder that it lies in")
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ValueError(f"there is no folder {name}; --model takes nano, a folder, or a name on the Hub")
    _fetch(name, DESCRIPTION)
    return _checked(_fetch(name, (*DESCRIPTION, *WEIGHTS)))


def _shipped(name: str) -> Path:
    folder = pretrained_checkpoints()[name]
    if not (folder / "config.json").is_file():
        raise ValueError(f"this installation ships no weights for {name}; make them from nothing with --from-scratch")
    return folder


def _checked(folder: Path) -> Path:
    if not any((folder / name).is_file() for name in ("config.json", "adapter_config.json")):
        raise ValueError(f"{folder} has neither config.json nor adapter_config.json: it is not a model's folder")
    return folder


def _fetch(name: str, patterns: Iterable[str]) -> Path:
    """Download files of a Hub repository, or find them in the cache."""
    try:
        return Path(snapshot_download(name, allow_patterns=list(patterns)))
    except errors.HFValidationError as problem:
        raise ValueError(f"{quote_input(name)} is neither a folder here nor a name on the Hub: {problem}") from problem
    except errors.GatedRepoError as problem:
        raise ValueError(
            f"{name} is gated: accept its terms at https://huggingface.co/{name} and log in with `hf auth login`"
        ) from problem
    except errors.RepositoryNotFoundError as problem:
        raise ValueError(
            f"the Hub has no model {quote_input(name)}{_close_matches(name)}; "
            "if it is private, log in with `hf auth login`"
        ) from problem
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled) as problem:
        raise ValueError(
            f"{quote_input(name)} is no folder here, not in the Hub's cache, and the Hub cannot be reached (offline?)"
            f"{_close_matches(name)}; --model takes nano, a folder, or a name on the Hub"
        ) from problem
    except errors.HfHubHTTPError as problem:
        raise ValueError(f"the Hub refused {quote_input(name)}: {str(problem).splitlines()[0]}") from problem


def _close_matches(name: str) -> str:
    near = get_close_matches(name, pretrained_checkpoints(), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def adapter_config(folder: Path) -> JsonObject:
    """What `adapter_config.json` of a folder says; empty where the folder is no adapter."""
    path = folder / "adapter_config.json"
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}
    except ValueError as problem:
        raise ValueError(f"{path} cannot be read: {problem}") from problem


def weight_files(folder: Path) -> list[Path]:
    """The files of weights in a folder, by name."""
    return sorted({path for pattern in WEIGHTS for path in folder.glob(pattern)})


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder holds a tokenizer of any kind."""
    return any((folder / name).is_file() for name in TOKENIZERS)
