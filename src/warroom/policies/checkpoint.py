"""From a folder to a model that can play: everything that can be wrong with a folder has an error of its own."""

import hashlib
import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, cast

from warroom.core.errors import MissingExtra, UnknownName, first_line
from warroom.core.late import LateModule
from warroom.core.types import JsonObject
from warroom.policies.manifest import MANIFEST, read_manifest

try:
    import torch
    import transformers
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
    from transformers.utils import logging

    from warroom.policies.generation import GenerationRequest, generate
except ImportError as error:
    raise MissingExtra("train", error) from error
if TYPE_CHECKING:
    import huggingface_hub
    import peft
else:
    huggingface_hub = LateModule("huggingface_hub", extra="train")
    peft = LateModule("peft", extra="train")

DEVICES = ("cpu", "cuda", "mps")
DEVICE = "WARROOM_DEVICE"
"""Environment variable that forces a device; without it the fastest that is there."""
ADAPTER, CONFIG = "adapter_config.json", "config.json"
WEIGHT_FILES = ("*.safetensors", "*.bin")
DEFAULTS: dict[str, object] = {"renderer": "plain", "env": None, "max_completion_length": 4096, "turn_tokens": 256}
"""How a model plays whose folder does not say."""
HERMES: dict[str, object] = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "reasoning_content": {"open": "<think>", "close_pattern": r"</think>\s*", "content": "text"},
        "tool_calls": {
            "open": "<tool_call>",
            "close_pattern": r"</tool_call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<\|im_end\|>\s*", "content": "text"},
    },
}
"""How Qwen2.5, Qwen3 and Hermes write calls, for tokenizers that do not say: the template that TRL gives them."""


@dataclass(frozen=True)
class Checkpoint:
    """A loaded model with its tokenizer and the way it was trained to play."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    manifest: JsonObject
    ends: frozenset[int]
    """Tokens that end a message."""
    status: JsonObject
    """What was loaded, for `run.json`."""


def device() -> str:
    """Where models run in this process."""
    forced = os.environ.get(DEVICE)
    if forced:
        if forced.partition(":")[0] not in DEVICES:
            raise UnknownName(f"{DEVICE}", forced, DEVICES)
        return forced
    return fastest_device()


def fastest_device() -> str:
    """`cuda`, `mps` or `cpu`: the best that there is."""
    return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"


def load(path: str) -> Checkpoint:
    """Load a model or an adapter by folder or Hub name."""
    folder = folder_of(path)
    base = _base_of(folder) if (folder / ADAPTER).is_file() else None
    tokenizer = _tokenizer(folder, base)
    with quiet():
        model = _model(base or folder)
        if base is not None:
            model = _adapted(model, folder)
        model = model.to(device()).eval()  # type: ignore[arg-type]  # wrapped there, which hides its `self`
        # Two tokens as a trial: what cannot compute fails here, and warnings that libraries print once are not shown.
        generate(
            model, [GenerationRequest([tokenizer.eos_token_id], 2, 0.0, Random(0))], tokenizer.pad_token_id, frozenset()
        )
    manifest = {**DEFAULTS, **read_manifest(folder)}
    return Checkpoint(
        model, tokenizer, manifest, end_tokens(model, tokenizer), _status(path, folder, base, model, manifest)
    )


def folder_of(path: str) -> Path:
    """The folder itself, or the local copy of a Hub repository."""
    folder = Path(path).expanduser()
    if folder.is_dir():
        if not any((folder / name).is_file() for name in (CONFIG, ADAPTER)):
            found = ", ".join(sorted(entry.name for entry in folder.iterdir())[:8]) or "nothing"
            raise ValueError(f"{folder} holds no model: neither {CONFIG} nor {ADAPTER} is there, but {found}")
        return folder
    if folder.exists() or path.startswith((".", "/", "~")) or path.count("/") != 1:
        raise ValueError(f"no model folder {path!r}; name a folder with {CONFIG} or {ADAPTER}, or a model on the Hub")
    return _from_hub(path)


def _from_hub(name: str) -> Path:
    kinds = ["*.json", "*.safetensors", "*.bin", "*.model", "*.txt", "*.jinja"]
    try:
        return Path(huggingface_hub.snapshot_download(name, allow_patterns=kinds))
    except Exception as error:  # network, access, a wrong name: the library has dozens of classes for it
        raise ValueError(f"no model folder {name!r} here, and the Hub does not give it: {error}") from error


def _base_of(folder: Path) -> Path:
    base = json.loads((folder / ADAPTER).read_text(encoding="utf-8")).get("base_model_name_or_path")
    if not base:
        raise ValueError(f"{folder} is an adapter, and its {ADAPTER} names no base model (base_model_name_or_path)")
    try:
        return folder_of(base)
    except ValueError as error:
        raise ValueError(f"{folder} is an adapter, and its base model {base!r} cannot be loaded: {error}") from error


def _tokenizer(folder: Path, base: Path | None) -> PreTrainedTokenizerBase:
    own = (folder / "tokenizer_config.json").is_file() or base is None
    source = folder if own else base
    assert source is not None
    if not (source / "tokenizer_config.json").is_file():
        raise ValueError(f"{source} has no tokenizer: tokenizer_config.json is missing; save the tokenizer beside it")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(source), local_files_only=True)
    except (OSError, ValueError) as error:
        raise ValueError(f"the tokenizer of {source} does not load: {error}") from error
    if not tokenizer.chat_template:
        raise ValueError(
            f"the tokenizer of {source} has no chat template, so no conversation can be rendered for the model"
        )
    if getattr(tokenizer, "response_template", None) is None:
        if not all(mark in tokenizer.chat_template for mark in ("<tool_call>", "<|im_start|>", '{"name": ')):
            raise ValueError(f"the tokenizer of {source} has no response_template: how it writes calls is unknown")
        tokenizer.response_template = HERMES
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def _model(folder: Path) -> PreTrainedModel:
    if not weight_files(folder):
        raise ValueError(f"{folder} has no weights: no {' or '.join(WEIGHT_FILES)} beside its {CONFIG}")
    dtype = torch.float32 if device() == "cpu" else "auto"
    try:
        loaded: Any = transformers.AutoModelForCausalLM.from_pretrained(
            str(folder), dtype=dtype, output_loading_info=True, local_files_only=True
        )
        model: PreTrainedModel
        model, report = loaded
    except Exception as error:  # broken files, wrong shapes, unknown architectures: each library has its own class
        hint = "; transformers needs docstrings, so run without python -OO" if sys.flags.optimize > 1 else ""
        raise ValueError(f"the model in {folder} does not load: {first_line(error)}{hint}") from error
    wrong = {kind: sorted(map(str, report.get(kind) or ())) for kind in ("missing_keys", "unexpected_keys")}
    mismatches = [f"{len(names)} {kind.replace('_', ' ')} such as {names[0]}" for kind, names in wrong.items() if names]
    if mismatches or report.get("mismatched_keys"):
        raise ValueError(
            f"the weights of {folder} do not match its {CONFIG}: {', '.join(mismatches) or 'shapes differ'}"
        )
    return model


def _adapted(model: PreTrainedModel, folder: Path) -> PreTrainedModel:
    if not weight_files(folder):
        raise ValueError(f"{folder} has no weights: no {' or '.join(WEIGHT_FILES)} beside its {ADAPTER}")
    peft_model = peft.PeftModel
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            adapted = peft_model.from_pretrained(model, str(folder))
        except Exception as error:
            raise ValueError(f"the adapter in {folder} does not fit its base: {first_line(error)}") from error
    missing = [str(w.message) for w in caught if "missing adapter keys" in str(w.message)]
    if missing:
        raise ValueError(f"the weights of {folder} do not match its {ADAPTER}: {missing[0][:300]}")
    return cast("PreTrainedModel", adapted)


def end_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """What ends a message: the tokens of the generation configuration, and the tokenizer's own end."""
    eos = model.generation_config.eos_token_id
    ends = {eos} if isinstance(eos, int) else set(eos or ())
    return frozenset(ends | {tokenizer.eos_token_id})


def _status(path: str, folder: Path, base: Path | None, model: PreTrainedModel, manifest: JsonObject) -> JsonObject:
    out = {
        "path": path,
        "sha256": sha256(folder),
        "parameters": model.num_parameters(),
        "dtype": str(next(model.parameters()).dtype).removeprefix("torch."),
        "device": device(),
        "renderer": manifest["renderer"],
        "manifest": (folder / MANIFEST).is_file(),
    }
    return out if base is None else {**out, "base": str(base), "base_sha256": sha256(base)}


def weight_files(folder: Path) -> list[Path]:
    """The files that hold the weights of a folder: safetensors, else torch's own."""
    for pattern in WEIGHT_FILES:
        if found := sorted(folder.glob(pattern)):
            return found
    return []


def sha256(folder: Path) -> str:
    """The hash of the weights: of the one file, or of the list of files with their hashes."""
    sums = [(file_sha256(file), file.name) for file in weight_files(folder)]
    if len(sums) == 1:
        return sums[0][0]
    return hashlib.sha256("".join(f"{checksum}  {name}\n" for checksum, name in sums).encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """The hash of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def quiet() -> Iterator[None]:
    """Without the library's reports of what it loaded and its bars: what is wrong becomes an error here."""
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with without_bars(), warnings.catch_warnings():
            # peft asks transformers by a name that transformers is about to drop.
            warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.*", category=FutureWarning)
            yield
    finally:
        logging.set_verbosity(before)


@contextmanager
def without_bars() -> Iterator[None]:
    """Without the library's progress bars, which a run's own would tear."""
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if bars:
            logging.enable_progress_bar()
