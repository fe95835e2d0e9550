"""YAML of unknown origin: every scalar is read as text, no tags but YAML's own, limited nesting and merging."""

import yaml

MAX_DEPTH = 50
"""The deepest nesting that is read; an annotation of a rule in a Kubernetes List lies nine deep."""
MAX_MERGED_KEYS = 50_000
"""The most keys that merges bring into all mappings of a text, against merges that multiply."""


class TextLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A name such as `Off` or `1e3` is neither a boolean nor a number. Merge keys work."""

    # A class attribute of its own: all readers in the process share the resolvers of SafeLoader.
    yaml_implicit_resolvers = {"<": yaml.SafeLoader.yaml_implicit_resolvers["<"]}  # noqa: RUF012

    merged_keys = 0

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Resolve merge keys, up to a limit."""
        written = len(node.value)
        super().flatten_mapping(node)
        self.merged_keys += max(0, len(node.value) - written)
        if self.merged_keys > MAX_MERGED_KEYS:
            problem = f"over {MAX_MERGED_KEYS} keys come from merges"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def load_documents(text: str, loader: type[TextLoader] = TextLoader, first_line: int = 1) -> list[object]:
    """The documents of a YAML text; a `ValueError` says what is wrong in which line, counted from `first_line`."""
    try:
        _check_depth(text, first_line)
        return list(yaml.load_all(text, loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + first_line}, column {mark.column + 1}: " if mark else ""
        raise ValueError(f"{where}{error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def _check_depth(text: str, first_line: int) -> None:
    """Refuse deep nesting before the C loader, whose recursion would crash the process; reading events is a loop."""
    depth = 0
    for event in yaml.parse(text, TextLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            mark = event.start_mark
            raise ValueError(f"line {mark.line + first_line if mark else '?'}: nested over {MAX_DEPTH} deep")
