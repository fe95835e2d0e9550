"""Frames by kind of message and split: text files that are written from values and read back."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from warroom.envs.tickets.domains import SUFFIXES, domains
from warroom.envs.tickets.names import DEPARTMENTS
from warroom.envs.tickets.wording.forms import FORMS
from warroom.sim.wording.forms import SPLITS, form
from warroom.sim.wording.template import Draws, TextTemplate, ValueForm

_FRAMES = files(__package__).joinpath("frames")
_SECTION = re.compile(r"\[([a-z_]+) ([a-z]+)\]")
SLOTS: Mapping[str, str] = {
    # the ticket
    "complaint": "clause", "clue": "clause", "belief": "clause", "noun": "noun", "tag": "code", "product": "product",
    "nickname": "nickname", "site": "title", "release_word": "release_word", "version": "version", "day": "day",
    "name": "person", "department": "department", "manager": "person", "colleague": "person",
    "number": "number", "thing": "thing",
    # the article
    "status": "word", "team": "title", "technical": "phrase", "finding": "clause", "cause": "clause",
    "tier": "word", "step": "text", "id": "id", "procedure": "phrase", "queue": "word", "group": "phrase",
    "field": "phrase", "source": "phrase", "demand": "text",
    # steps
    "action": "action", "object": "object", "setting": "phrase", "unit": "unit", "base": "number",
    "each": "number", "counted": "phrase", "share": "share", "whole": "phrase", "option": "title", "state": "state",
    "command": "command", "role": "role", "days": "number", "event": "event",
}  # fmt: skip
"""Every slot that a frame may have, whatever its kind, and its usual form. A slot means the same in each frame."""
STEP_KINDS = ("do", "set", "set_each", "set_capped", "choose", "switch", "run", "ask", "wait")
"""Kinds whose frames are bare infinitives without a full stop ("clear the spool folder"), which others take as `step`.
`set` has `base`; `set_each` adds `each` and `counted`; `set_capped` adds `share` and `whole`."""


class ParsedSentence(NamedTuple):
    """A sentence as a frame of a kind understands it."""

    kind: str
    values: Mapping[str, object]


@cache
def _sources(split: str) -> Mapping[str, tuple[str, ...]]:
    """The frames of a split by kind, of all files."""
    found: dict[str, list[str]] = {}
    for path in sorted(_FRAMES.iterdir(), key=lambda path: path.name):
        heading = None
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := _SECTION.fullmatch(line):
                heading = match[1] if match[2] == split else None
                if match[2] not in SPLITS:
                    raise ValueError(f"{path.name}: [{match[0]}] names no split of {', '.join(SPLITS)}")
            elif line.strip() and heading and not line.startswith("#"):
                found.setdefault(heading, []).append(line)
    return {kind: tuple(lines) for kind, lines in found.items()}


def kinds(split: str) -> tuple[str, ...]:
    """The kinds of message that have frames."""
    return tuple(_sources(split))


@cache
def _forms() -> Mapping[str, ValueForm]:
    """The forms of values, with those that have the names in the tables of the domains and no others."""
    known = domains().values()
    names = {
        "noun": {domain.noun for domain in known},
        "release_word": {domain.version for domain in known},
        "department": set(DEPARTMENTS),
        "nickname": {name for domain in known for name in domain.nicknames},
        "product": {f"{name} {suffix}".strip() for domain in known for name in domain.products for suffix in SUFFIXES},
        "thing": {name for domain in known for name in (*domain.counts, *domain.amounts, domain.version)},
    }
    plurals = {plural(name): name for name in names["thing"]}
    many = form("|".join(sorted(plurals)), plurals.get, all=(plural,))
    return FORMS | {form_name: _one_of(those) for form_name, those in names.items()} | {"plural": many}


def plural(noun: str) -> str:
    """More than one of a thing that is counted: trays, switches, delegates."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"


def _one_of(names: Iterable[str]) -> ValueForm:
    return form("|".join(sorted(map(re.escape, names), key=lambda name: (-len(name), name))), str, all=(str,))


@cache
def frames(kind: str, split: str) -> tuple[TextTemplate, ...]:
    """The frames of a kind in a split.

    Raises:
        ValueError: there are none.
    """
    if kind not in _sources(split):
        raise ValueError(f"no frames of kind {kind!r} in split {split!r}; there are {', '.join(kinds(split))}")
    return tuple(TextTemplate(source, _forms(), SLOTS) for source in _sources(split)[kind])


def write(kind: str, split: str, values: Mapping[str, object], draws: Draws) -> str:
    """A message in words: a frame all of whose slots have a value."""
    choice = _fitting(kind, split, tuple([name for name, value in values.items() if value is not None]))
    return choice[draws.pick(len(choice))].render(values, split, draws)


@cache
def _fitting(kind: str, split: str, given: tuple[str, ...]) -> tuple[TextTemplate, ...]:
    found = tuple(frame for frame in frames(kind, split) if frame.required.issubset(given))
    if not found:
        raise ValueError(f"no frame of {kind!r} in split {split!r} does with {', '.join(sorted(given))}")
    return found


def read(text: str, wanted: tuple[str, ...], splits: tuple[str, ...] = SPLITS) -> list[ParsedSentence]:
    """Everything that a sentence may say according to the frames of these kinds."""
    found = []
    for split in splits:
        for kind in wanted:
            for frame in frames(kind, split) if kind in _sources(split) else ():
                values = frame.read(text)
                if values is not None and ParsedSentence(kind, values) not in found:
                    found.append(ParsedSentence(kind, values))
    return found
