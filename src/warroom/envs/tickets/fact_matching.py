"""Which facts a text tells its reader to do, however it is worded: by the words that are not written by chance."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from warroom.envs.tickets.facts import Fact

NEAR = 8
"""Words within which the parts of one fact must stand."""
UNITS = {
    "s": "seconds", "sec": "seconds", "secs": "seconds", "second": "seconds", "min": "minutes", "mins": "minutes",
    "minute": "minutes", "h": "hours", "hour": "hours", "kb": "kilobytes", "kilobyte": "kilobytes", "mb": "megabytes",
    "megabyte": "megabytes",
}  # fmt: skip
"""Units that mean the same."""
NEGATIONS = frozenset("not never don't dont avoid undo formerly obsolete longer wrong nothing nobody neither harmful "
                      "refrain".split())  # fmt: skip
"""Words that turn the rest of their clause into something not to do."""
_NO_NEGATION = re.compile(r"\b(?:not|n't) (?:only|just|enough|sufficient)\b|\bnothing else\b|\b(?:to|and) avoid\b")
_FORBIDDEN = re.compile(
    r"\b(?:must|should|may|can|is|are|shall|need)\s*(?:not|never|n't)\b|\b(?:forbidden|prohibited|dangerous|never be)\b"
)
"""What forbids the thing before it: `... must never be run`."""
_CLAUSES = re.compile(r"[.;!?\n](?=\s|$)|, | but | then | and then ")
_MARKS = re.compile(r"[`\"'=:;,()\[\]{}*|<>]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_GLUED = re.compile(r"(?<=\d)(?=(?:ms|s|min|h|kb|mb)\b)")
IDENTIFIER = re.compile(r"^(?=.*\d)[a-z0-9][a-z0-9\-_/.]*$")
"""Words with a digit: identifiers and values, which an answer must not make up."""


class TokenizedText(NamedTuple):
    """A text as plain lower-case words, and where each stands."""

    all: tuple[str, ...]
    places: dict[str, list[int]]
    clauses: tuple[str, ...]


def tokenize(text: str) -> TokenizedText:
    """Read a text: thousands separators, quotes and units are made alike."""
    lower = text.lower().replace("\u2011", "-").replace("\u2013", "-").replace("\u2019", "'")
    lower = _GLUED.sub(" ", _THOUSANDS.sub("", lower))
    clauses = tuple(_CLAUSES.split(_NO_NEGATION.sub("", lower)))
    plain = [UNITS.get(word, word) for word in (w.strip(".!?") for w in _MARKS.sub(" ", lower).split()) if word]
    places: dict[str, list[int]] = {}
    for k, word in enumerate(plain):
        places.setdefault(word, []).append(k)
    return TokenizedText(tuple(plain), places, clauses)


def places(fact: Fact, words: TokenizedText) -> list[int]:
    """Where a text speaks of a fact: the tokens of it near one another, in any wording."""
    token = words.places.get(fact.token.lower(), [])
    if fact.kind == "group" or not token:
        return token
    if fact.kind == "setting":
        key = fact.words[0]
        keys = words.places.get(key, []) or words.places.get(key.replace("-", ""), []) or _spelled_out(key, words)
        return [place for place in token if any(abs(place - k) <= NEAR for k in keys)]
    verbs = words.places.get(fact.words[1], [])
    return [place for place in token if any(0 < place - verb <= NEAR for verb in verbs)]


def _spelled_out(key: str, words: TokenizedText) -> list[int]:
    """Where a key with hyphens is written as several words."""
    parts = key.split("-")
    if len(parts) < 2:
        return []
    return [k for k in words.places.get(parts[-1], []) if k >= 1 and words.all[k - 1] == parts[-2]]


def instructs(fact: Fact, words: TokenizedText) -> bool:
    """Whether a text has the reader do a fact: it speaks of it, and not only to forbid it."""
    return bool(places(fact, words)) and not forbids(fact, words)


def forbids(fact: Fact, words: TokenizedText) -> bool:
    """Whether every clause that holds the fact's token is a prohibition."""
    token = fact.token.lower()
    clauses = [clause for clause in words.clauses if token in _split(clause)]
    return bool(clauses) and all(_prohibits(*clause.split(token, 1)) for clause in clauses)


def _prohibits(before: str, after: str) -> bool:
    return bool(NEGATIONS & set(_split(before)) or _FORBIDDEN.search(after))


def _split(clause: str) -> list[str]:
    return [word.strip(".!?") for word in _MARKS.sub(" ", clause.replace("'", "\x00")).replace("\x00", "'").split()]


def in_order(facts: Sequence[Fact], words: TokenizedText) -> float:
    """Share of the pairs of facts that a text tells in the right order; 1 for less than two."""
    first = [min(places(fact, words)) for fact in facts]
    pairs = [(a, b) for i, a in enumerate(first) for b in first[i + 1 :]]
    return sum([a < b for a, b in pairs]) / len(pairs) if pairs else 1.0


def invented(words: TokenizedText, known: Iterable[str]) -> list[str]:
    """Identifiers and values of a text that nothing at hand holds."""
    heard = set(known)
    return sorted({word for word in words.all if IDENTIFIER.match(word) and word not in heard})
