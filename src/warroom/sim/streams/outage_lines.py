"""What components write of outages: of those that hurt requests, and of those that they get over.

Every component has its troubles on any day. That an outage is *the* outage stands in what became of the requests: a
`harmful` line says that the request went down with it, a `coped` line that it got through all the same. Both come at
either level and as often.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from warroom.core.splits import Split
from warroom.sim.outages import CLIENT_ERRORS, OUTAGES, OWN_SIDE, ObjectKind
from warroom.sim.streams.outage_wording import Openings, OutageWording, Wordings
from warroom.sim.streams.outage_wording_test import TEST_OPENINGS, TEST_OPERATOR, TEST_WORDINGS
from warroom.sim.streams.outage_wording_train import TRAIN_OPENINGS, TRAIN_OPERATOR, TRAIN_WORDINGS
from warroom.sim.streams.template import Level

WORDINGS: dict[Split, Wordings] = {Split.TRAIN: TRAIN_WORDINGS, Split.TEST: TEST_WORDINGS}
OPENINGS: dict[Split, Openings] = {Split.TRAIN: TRAIN_OPENINGS, Split.TEST: TEST_OPENINGS}
OPERATOR: dict[Split, dict[str, tuple[str, ...]]] = {Split.TRAIN: TRAIN_OPERATOR, Split.TEST: TEST_OPERATOR}
RECEIVED = "received"
"""Second half of the name of what the callee writes of an outage that its caller brings: `retry_storm received`."""
Outcome = Literal["harmful", "coped", "opening", "operator"]
LEVELS: dict[str, Level] = {"I": "INFO", "W": "WARN", "E": "ERROR"}


class OutageLine(NamedTuple):
    """One kind of line of an outage. Slots in braces are figures, `object`, `peer` and `other`."""

    level: Level
    text: str


def wording_of(split: Split, name: str, kind: str) -> OutageWording:
    """How a kind of component tells of an outage; a `ValueError` if the tables say nothing of it."""
    table = WORDINGS[split]
    found = table.get((name, kind)) or table.get((name, ""))
    if found is None:
        raise ValueError(f"no {split} wording of {name} for a {kind}")
    return found


def openings_of(split: Split, object_kind: ObjectKind, kind: str) -> tuple[str, ...]:
    """How a kind of component tells that a build, session or prefix begins to matter."""
    table = OPENINGS[split]
    return table[object_kind, kind] if (object_kind, kind) in table else table[object_kind, ""]


def lines_of(texts: tuple[str, ...]) -> tuple[OutageLine, ...]:
    """Lines as they stand in the tables: I, W or E for the level, then the text."""
    return tuple([OutageLine(LEVELS[text[0]], text[2:]) for text in texts])


class ReadOutage(NamedTuple):
    """What a line tells of an outage."""

    name: str
    """A row of `OUTAGES`, `own_side` or `bad_input`; of an opening the kind of object, of an operator the remedy."""
    outcome: Outcome
    object: str
    """The build, session or prefix that it names; empty if none."""
    peer: str
    """The other service that it names; empty if none."""
    received: bool
    """Whether it is told by the one that suffers from the outage of its caller."""


class _OutageText(NamedTuple):
    text: str
    fixed: str
    """The longest part without a slot: few other lines have it, so few patterns are tried, or compiled at all."""
    name: str
    outcome: Outcome


_SLOTS = {"object": r"(?P<object>\S+?)", "peer": r"(?P<peer>[\w-]+)", "other": r"\S+?"}


@cache
def _pattern(text: str) -> re.Pattern[str]:
    named: set[str] = set()

    def slot(match: re.Match[str]) -> str:
        name = match[1]
        if name in named:
            return f"(?P={name})"
        named.add(name)
        return _SLOTS.get(name, r"\d+")

    return re.compile(re.sub(r"\\\{(\w+)\\\}", slot, re.escape(text)))


@cache
def _texts() -> tuple[_OutageText, ...]:
    return tuple([
        _OutageText(line[2:], max(re.split(r"\{\w+\}", line[2:]), key=len), name, outcome)
        for name, outcome, lines in _told() for line in lines
    ])  # fmt: skip


class _OutageLines(NamedTuple):
    name: str
    outcome: Outcome
    lines: tuple[str, ...]


def _told() -> Iterator[_OutageLines]:
    for table in WORDINGS.values():
        for (name, _), wording in table.items():
            yield _OutageLines(name, "harmful", wording.harmful)
            yield _OutageLines(name, "coped", wording.coped)
    for openings in OPENINGS.values():
        for (object_kind, _), lines in openings.items():
            yield _OutageLines(object_kind, "opening", lines)
    for operator in OPERATOR.values():
        for remedy, lines in operator.items():
            yield _OutageLines(remedy, "operator", lines)


@lru_cache(maxsize=8192)
def read_outage(message: str) -> tuple[ReadOutage, ...]:
    """The inverse of the tables: all that a line may tell of outages; none for a line about anything else."""
    found = []
    for text, fixed, name, outcome in _texts():
        if fixed in message and (match := _pattern(text).fullmatch(message)):
            groups = match.groupdict()
            base = name.removesuffix(f" {RECEIVED}")
            found.append(ReadOutage(base, outcome, groups.get("object") or "", groups.get("peer") or "", base != name))
    return tuple(dict.fromkeys(found))


def known_names() -> tuple[str, ...]:
    """Every outage that the tables tell of."""
    received = [f"{name} {RECEIVED}" for name, outage in OUTAGES.items() if outage.place == "callee"]
    return (*OUTAGES, *received, OWN_SIDE, CLIENT_ERRORS)
