"""YAML of unknown origin: every scalar a text, no tags but YAML's own, no nesting or merging without end."""

from typing import Any

import yaml

MAX_DEPTH = 50
"""The deepest nesting that is read; an annotation of a rule in a Kubernetes List lies nine deep."""
MAX_KEYS = 20_000
"""The most keys of one mapping after its merges, against merges of merges that multiply without end."""


class _StringLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A name such as `Off` or `1e3` is neither false nor a number. Merge keys work."""

    yaml_implicit_resolvers = {"<": yaml.SafeLoader.yaml_implicit_resolvers["<"]}  # noqa: RUF012

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Resolve merge keys, but not without end."""
        super().flatten_mapping(node)
        if len(node.value) > MAX_KEYS:
            raise yaml.MarkedYAMLError(problem=f"over {MAX_KEYS} keys merged into one", problem_mark=node.start_mark)


def load_texts(text: str, first_line: int = 1) -> list[Any]:
    """The documents of a YAML text; a `ValueError` says what is wrong in which line, counted from `first_line`."""
    try:
        _check_depth(text)
        return list(yaml.load_all(text, _StringLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + first_line if mark else first_line
        raise ValueError(f"line {line}: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def _check_depth(text: str) -> None:
    """The C loader recurses and would take the process down with it; reading events is a loop."""
    depth = 0
    for event in yaml.parse(text, _StringLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError(f"nested over {MAX_DEPTH} deep")
