"""Secrets that may come back from outside, as a key does that a server repeats: masked where text is kept or shown."""

import json
from typing import TypeVar, cast

Value = TypeVar("Value")
MASK = "***"
MIN_LENGTH = 8
"""Characters of a secret. A shorter one, as the `none` or `EMPTY` of a server that wants no key, is a common word."""
_secrets: set[str] = set()


def register_secret(text: str) -> None:
    """Mask this text from now on, in this process."""
    if len(text) >= MIN_LENGTH:
        # As JSON and as Python write it, longest first: one may be part of another.
        _secrets.update({text, json.dumps(text)[1:-1], repr(text)[1:-1]})


def mask_text(text: str) -> str:
    """The text without any secret."""
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def mask_value(value: Value) -> Value:
    """The value of a JSON text with every text in it masked, names included."""
    return cast("Value", _masked(value)) if _secrets else value


def _masked(value: object) -> object:
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, dict):
        return {_masked(name): _masked(inner) for name, inner in value.items()}
    return [_masked(inner) for inner in value] if isinstance(value, list) else value
