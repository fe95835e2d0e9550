"""Compose files as YAML: every scalar is text, with docker's `!reset` and `!override` tags."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from warroom.importers.text_files import read_text
from warroom.importers.yaml_documents import TextLoader, load_documents

MAX_BYTES = 5_000_000
"""The largest file that is read; real compose files are below 0.1 MB."""
MAX_DOCUMENTS = 100
"""The most YAML documents of a file; real ones have one."""
_MERGE = "tag:yaml.org,2002:merge"
_NULL = "tag:yaml.org,2002:null"


@dataclass(frozen=True, slots=True)
class Reset:
    """What `!reset` leaves: the key is removed from the layers below."""


@dataclass(frozen=True, slots=True)
class Override:
    """What `!override` leaves: the value replaces the layers below instead of merging with them."""

    value: object


class _ComposeLoader(TextLoader):
    """Text and null only: YAML 1.1 would make `no` false and the port pair `22:22` the number 1342."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in pairs if tag in (_NULL, _MERGE)]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_document(self, node: yaml.Node) -> object:
        """Refuse a key that occurs twice, as docker does: one of the two values would be lost silently."""
        _check_unique_keys(node, set())
        document: object = super().construct_document(node)
        return document


def _check_unique_keys(node: yaml.Node, checked: set[int]) -> None:
    if id(node) in checked or not isinstance(node, yaml.CollectionNode):
        return
    checked.add(id(node))  # Aliases make a graph of the tree.
    seen: set[str] = set()
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ((None, item) for item in node.value):
        _check_unique_keys(value, checked)
        if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} comes twice", problem_mark=key.start_mark)
            seen.add(key.value)


def _construct(loader: yaml.SafeLoader, node: yaml.Node) -> Mapping[Hashable, object] | list[object] | str | None:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return str(node.value) or None


_ComposeLoader.add_constructor("!reset", lambda _loader, _node: Reset())
_ComposeLoader.add_constructor("!override", lambda loader, node: Override(_construct(loader, node)))


def read_documents(path: Path) -> list[dict[str, object]]:
    """The YAML documents of a compose file (nearly always one), each a mapping."""
    text = read_text(path, "compose file", MAX_BYTES)
    try:
        documents = [document for document in load_documents(text, _ComposeLoader) if document is not None]
    except ValueError as error:
        raise ValueError(f"{path}: not valid YAML: {error}") from error
    if len(documents) > MAX_DOCUMENTS:
        raise ValueError(f"{path}: {len(documents)} YAML documents, at most {MAX_DOCUMENTS} are read")
    return [_mapping(path, document) for document in documents]


def _mapping(path: Path, document: object) -> dict[str, object]:
    if not isinstance(document, dict):
        raise ValueError(f"{path}: the top level is a {kind_of(document)}, want a mapping with the key 'services:'")
    return document


def kind_of(value: object) -> str:
    """What YAML calls the type of a value."""
    return {dict: "mapping", list: "list", str: "text", type(None): "nothing"}.get(type(value), type(value).__name__)
