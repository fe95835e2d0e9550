"""Observations of an incident whose services have other names."""

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any


def renamed(value: Any, new: dict[str, str]) -> Any:
    """The same with other names wherever a text holds one."""
    if isinstance(value, str):
        return re.sub(r"[\w-]+", lambda word: new.get(word[0], word[0]), value)
    if isinstance(value, tuple):
        parts = [renamed(part, new) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, dict):
        return {key: renamed(part, new) for key, part in value.items()}
    if is_dataclass(value):
        return replace(value, **{field.name: renamed(getattr(value, field.name), new) for field in fields(value)})  # type: ignore[type-var]
    return value
