"""Secrets that may come back from outside, as a key does that a server repeats: masked where text is kept or shown."""

import os
import re
from typing import TypeVar, cast

Value = TypeVar("Value")
SECRET_VARIABLES = ("WARROOM_API_KEY", "OPENAI_API_KEY", "WARROOM_JUDGE_KEY", "WARROOM_TOKEN")
"""Environment variables that hold a secret."""
MASK = "***"
MIN_LENGTH = 8
"""Characters of a secret. A shorter one, as the `none` or `EMPTY` of a server that wants no key, is a common word."""
_secrets: dict[str, re.Pattern[str]] = {}
"""Each secret with the pattern of all ways in which JSON may write it, as text within text included."""


def register_secret(text: str) -> None:
    """Mask this text from now on, in this process."""
    if len(text) >= MIN_LENGTH:
        _secrets[text] = re.compile("".join(rf"(?:\\{{0,8}}{re.escape(c)}|\\{{1,8}}(?i:u{ord(c):04x}))" for c in text))


def register_environment() -> None:
    """Mask what `SECRET_VARIABLES` hold."""
    for name in SECRET_VARIABLES:
        register_secret(os.environ.get(name, ""))


def mask_text(text: str) -> str:
    """The text without any secret."""
    for pattern in _secrets.values():
        text = pattern.sub(MASK, text)
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
