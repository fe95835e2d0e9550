"""JSON of unknown origin: whatever is wrong with it is a `ValueError`, deep nesting too."""

import json
from collections.abc import Callable
from typing import Any


def parse_json(text: str | bytes, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """The value of a JSON text. Nesting beyond what Python can read is a `ValueError`, not a `RecursionError`.

    `parse_constant` is asked what NaN and Infinity are.
    """
    try:
        return json.loads(text, parse_constant=parse_constant)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None
