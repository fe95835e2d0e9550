"""JSON that somebody else may have written or damaged: read whole and as the standard says, or refused in words."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from warroom.core.errors import describe_error, quote_input
from warroom.core.types import JsonObject

MAX_DEPTH = 100
"""Levels of lists and objects: whatever walks a value later does so by recursion."""
NUMBER = (int, float)
INFINITE = (math.inf, -math.inf)
"""What a number such as 1e999 is read as."""
_WORDS = {
    str: "text", int: "a whole number", float: "a number", bool: "true or false", dict: "an object", list: "a list",
    type(None): "null",
}  # fmt: skip


class NestedTooDeeply(ValueError):
    """A JSON text with more levels than are read."""

    def __init__(self) -> None:
        super().__init__(f"it nests lists or objects more than {MAX_DEPTH} levels deep")


def parse_json(text: str | bytes, *, allow_nan: bool = False) -> object:
    """The value of a JSON text; a `ValueError` in the words of people if it is cut, nested too deep, or no JSON.

    With `allow_nan`, NaN and Infinity are numbers, as Python and other writers have them.
    """
    try:
        constant = None if allow_nan else _no_number
        value: object = json.loads(text.decode() if isinstance(text, bytes) else text, parse_constant=constant)
    except RecursionError:
        raise NestedTooDeeply from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(describe_error(error)) from error
    except ValueError as error:  # Python refuses numbers of thousands of digits, and says how to allow them
        raise ValueError(str(error).partition("; use ")[0]) from error
    if too_deep(value):
        raise NestedTooDeeply
    return value


def parse_hostile_json(text: str | bytes) -> object:
    """As `parse_json`, of a text from anybody: a `ValueError` too if a part of it could not be written again."""
    value = parse_json(text)
    for scalar in _scalars(value):
        if isinstance(scalar, float) and not math.isfinite(scalar):
            raise ValueError("it has a number that is not finite")
        if isinstance(scalar, str) and not scalar.isascii():
            try:
                scalar.encode()
            except UnicodeEncodeError as error:
                raise ValueError("it has half a character (a lone surrogate)") from error
    return value


def _scalars(value: object) -> Iterator[object]:
    """The names and values within a value; what `parse_json` returns is not too deep for a recursion."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    else:
        yield value


def parse_json_object(text: str | bytes) -> JsonObject:
    """As `parse_json`, of a text that holds an object."""
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError(f"it is {_word(type(value))} where an object belongs")
    return value


def read_json_object(path: Path) -> JsonObject:
    """The object in a file; a `ValueError` names the file and says what is wrong with it."""
    try:
        return parse_json_object(path.read_bytes())
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


@contextmanager
def contents_of(path: Path) -> Iterator[None]:
    """A block that walks the values of a file: what is missing or something else is a `ValueError` about the file."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{path} is damaged: {describe_error(error)}; make it again, or delete it") from error


def too_deep(value: object) -> bool:
    """Whether a value has more than `MAX_DEPTH` levels."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for outer in level
            for child in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def check_types(data: Mapping[str, object], types: Mapping[str, tuple[type, ...]]) -> None:
    """Refuse an object whose named values, where it has them, are of other types."""
    for name, allowed in types.items():
        if name in data and (type(data[name]) not in allowed or data[name] in INFINITE):
            words = " or ".join(dict.fromkeys(_word(kind) for kind in allowed))
            raise ValueError(f"its {name!r} must be {words}, got {quote_input(data[name])}")


def check_values(name: str, values: object, allowed: tuple[type, ...]) -> None:
    """Refuse an object, or a list, with a value of another type."""
    found = values.values() if isinstance(values, dict) else values if isinstance(values, list) else ()
    for value in found:
        if type(value) not in allowed or value in INFINITE:
            words = " or ".join(dict.fromkeys(_word(kind) for kind in allowed))
            raise ValueError(f"its {name!r} must hold {words}, got {quote_input(value)}")


def _word(kind: type) -> str:
    return _WORDS.get(kind, kind.__name__)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}, which is not a valid JSON number")
