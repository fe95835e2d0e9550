"""The errors that a caller can make, worded so that the caller can correct them."""

from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from json import JSONDecodeError

MAX_QUOTED_CHARACTERS = 80
"""Characters of a wrong value that an error repeats."""
MAX_LINE_CHARACTERS = 400


class UnknownName(ValueError):
    """A name that is not in its closed list; the message says which names are, and the nearest one."""

    def __init__(self, kind: str, got: object, allowed: Collection[str]) -> None:
        super().__init__(unknown_name_message(kind, got, allowed))

    def __reduce__(self) -> tuple[Callable[..., Exception], tuple[type[Exception], str]]:
        return _rebuild, (type(self), str(self))


class NotInstalled(ImportError):
    """A library that only some commands need is missing; the message is the line that installs it."""

    def __init__(self, library: str, requirement: str) -> None:
        super().__init__(f"{library} is not installed; run: pip install '{requirement}'")

    def __reduce__(self) -> tuple[Callable[..., Exception], tuple[type[Exception], str]]:
        return _rebuild, (type(self), str(self))


class MissingExtra(NotInstalled):
    """A library of one of our extras is missing."""

    def __init__(self, extra: str, error: ImportError) -> None:
        super().__init__((error.name or str(error)).partition(".")[0], f"warroom[{extra}]")


class IncompatibleTopology(ValueError):
    """A scenario that cannot happen on the topology it was asked to happen on."""


class EpisodeAborted(ValueError):
    """An episode that infrastructure kept from its end, such as a server that failed: no mistake of whoever played."""


class RunStopped(EpisodeAborted):
    """Nothing more may be spent on a run: what it has is kept, and nothing new begins."""


def first_line(error: BaseException | str) -> str:
    """The first line of an error's message, at most 400 characters of it; the error's class where it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:MAX_LINE_CHARACTERS]


def _rebuild(kind: type[Exception], message: str) -> Exception:
    """An error as it was in another process: worded there, so its message alone is passed on."""
    error = kind.__new__(kind)
    error.args = (message,)
    return error


CLOSE = 0.5
"""How alike two names are of which one may be a slip for the other, by `difflib`, 0 to 1."""
ORDERED = 6
"""Names up to which a list keeps its own order, such as that of tiers."""


def unknown_name_message(kind: str, got: object, allowed: Collection[str]) -> str:
    """Say that `got` is no `kind`, offer the nearest allowed name, and list what is allowed."""
    names = list(allowed) if isinstance(allowed, Sequence) and len(allowed) <= ORDERED else sorted(allowed)
    near = get_close_matches(str(got)[:MAX_QUOTED_CHARACTERS], names, n=1, cutoff=CLOSE)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    return f"no {kind} {quote_input(got)}{guess} (allowed: {', '.join(names)})"


def describe_error(error: Exception) -> str:
    """An error of reading data, in the words of people: where it stops being JSON, or which part is missing."""
    if isinstance(error, JSONDecodeError):
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        return f"it is not JSON from {line}character {error.colno} on"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text from byte {error.start + 1} on"
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    return str(error) if isinstance(error, ValueError) else "its parts are not those of one"


def quote_input(got: object) -> str:
    """What was got, as an error quotes it: cut where it is long, so that no caller floods the record."""
    text = repr(got)
    return text if len(text) <= MAX_QUOTED_CHARACTERS else f"{text[:MAX_QUOTED_CHARACTERS]}... ({len(text)} characters)"
