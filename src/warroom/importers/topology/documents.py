"""Compose files as YAML: read with care, every scalar a text, with docker's `!reset` and `!override` tags."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

MAX_BYTES = 5_000_000
"""The largest file that is read; real compose files are below 0.1 MB."""
MAX_KEYS = 20_000
"""The most keys of one mapping after its merges."""

_MERGE = "tag:yaml.org,2002:merge"
_RESOLVED = frozenset({"tag:yaml.org,2002:null", _MERGE})


@dataclass(frozen=True, slots=True)
class Reset:
    """What `!reset` leaves: the key is removed from the layers below."""


@dataclass(frozen=True, slots=True)
class Override:
    """What `!override` leaves: the value replaces the layers below instead of merging with them."""

    value: Any


class _ComposeLoader(yaml.SafeLoader):
    """Scalars stay texts: YAML 1.1 would make `no` false and the port pair `22:22` the number 1342."""

    # A class of its own: the resolvers of SafeLoader are shared by every reader in the process.
    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in pairs if tag in _RESOLVED]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Refuse a key that comes twice, as docker does: one of the two would be lost without a word."""
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag == _MERGE or not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} comes twice", problem_mark=key.start_mark)
            seen.add(key.value)
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Resolve merge keys, but not merges of merges that multiply without end."""
        super().flatten_mapping(node)
        if len(node.value) > MAX_KEYS:
            raise yaml.MarkedYAMLError(problem=f"over {MAX_KEYS} keys merged into one", problem_mark=node.start_mark)


def _construct(loader: Any, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return node.value or None


_ComposeLoader.add_constructor("!reset", lambda _loader, _node: Reset())
_ComposeLoader.add_constructor("!override", lambda loader, node: Override(_construct(loader, node)))


def read_text(path: Path, what: str) -> str:
    """The text of a small file; a `ValueError` says what is wrong with a path, a size or an encoding."""
    if path.is_dir():
        raise ValueError(f"{str(path)!r} is a folder, not a {what}: name the file itself")
    if not path.is_file():
        raise ValueError(f"no {what} {str(path)!r}: check the path (from {str(Path.cwd())!r})")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"{path}: {size / 1e6:.1f} MB is too large for a {what} (at most {MAX_BYTES / 1e6:.0f} MB)")
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not text (byte {error.start} is not UTF-8); a {what} is UTF-8 text") from error
    if "\0" in text:
        raise ValueError(f"{path}: a binary file (it holds zero bytes), not a {what}")
    return text.replace("\r\n", "\n")


def read_documents(path: Path) -> list[dict[str, Any]]:
    """The YAML documents of a compose file (nearly always one), each a mapping."""
    text = read_text(path, "compose file")
    try:
        found = [document for document in yaml.load_all(text, _ComposeLoader) if document is not None]
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"{path}: not valid YAML{_where(error)}: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: not valid YAML: {error}") from error
    except RecursionError as error:
        raise ValueError(f"{path}: nested too deeply to be a compose file") from error
    if not found:
        raise ValueError(f"{path}: the file is empty; a compose file has a top-level 'services:' key")
    for document in found:
        if not isinstance(document, dict):
            raise ValueError(f"{path}: the top level is a {kind_of(document)}, want a mapping with the key 'services:'")
    return found


def _where(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""


def kind_of(value: Any) -> str:
    """What YAML calls the type of a value."""
    return {dict: "mapping", list: "list", str: "text", type(None): "nothing"}.get(type(value), type(value).__name__)
