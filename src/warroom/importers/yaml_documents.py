"""YAML of unknown origin: every scalar is read as text, no tags but YAML's own, limited nesting and merging."""

import yaml

MAX_DEPTH = 50
"""The deepest nesting that is read; an annotation of a rule in a Kubernetes List lies nine deep."""
MAX_KEYS = 20_000
"""The most keys of one mapping after its merges, against merges of merges that multiply exponentially."""


class TextLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A name such as `Off` or `1e3` is neither a boolean nor a number. Merge keys work."""

    # A class attribute of its own: all readers in the process share the resolvers of SafeLoader.
    yaml_implicit_resolvers = {"<": yaml.SafeLoader.yaml_implicit_resolvers["<"]}  # noqa: RUF012

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Resolve merge keys, up to a limit."""
        super().flatten_mapping(node)
        if len(node.value) > MAX_KEYS:
            raise yaml.MarkedYAMLError(problem=f"over {MAX_KEYS} keys merged into one", problem_mark=node.start_mark)


def load_documents(text: str, loader: type[TextLoader] = TextLoader, first_line: int = 1) -> list[object]:
    """The documents of a YAML text; a `ValueError` says what is wrong in which line, counted from `first_line`."""
    try:
        _check_depth(text)
        return list(yaml.load_all(text, loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + first_line}, column {mark.column + 1}: " if mark else ""
        raise ValueError(f"{where}{error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def _check_depth(text: str) -> None:
    """Refuse deep nesting before the C loader, whose recursion would crash the process; reading events is a loop."""
    depth = 0
    for event in yaml.parse(text, TextLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError(f"nested over {MAX_DEPTH} deep")
