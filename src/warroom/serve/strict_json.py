"""JSON as strangers send it: read whole, or refused with a sentence that says what is wrong with it."""

import json
import math

MAX_DEPTH = 100
"""Lists and objects within one another; a call of any tool has fewer than ten."""


def parse_strictly(body: bytes | str) -> object:
    """The value of a JSON text that everything behind can carry and write again; a `ValueError` says why it is none."""
    try:
        value = json.loads(body if isinstance(body, str) else body.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text from byte {error.start + 1} on") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON from character {error.pos + 1} on") from error
    except RecursionError as error:
        raise ValueError(f"it nests deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:  # Python refuses numbers of thousands of digits
        raise ValueError("it has a number of too many digits") from error
    _check(value)
    return value


def _check(value: object) -> None:
    """Refuse what JSON or UTF-8 cannot carry on. Level by level: a recursion would end where a hostile text likes."""
    level, depth = [value], 0
    while level:
        if depth == MAX_DEPTH and any(isinstance(item, dict | list) for item in level):
            raise ValueError(f"it nests deeper than {MAX_DEPTH} levels")
        for item in level:
            _check_scalar(item)
        level = [inner for item in level for inner in _items(item)]
        depth += 1


def _items(value: object) -> list[object]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def _check_scalar(value: object) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("it has a number that is not finite (NaN, Infinity, or too large)")
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError("it has half a character (a lone surrogate)") from error
