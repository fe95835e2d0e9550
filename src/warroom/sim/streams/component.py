"""The log streams of one component: which templates of its kind it uses, with what names, and how often."""

import re
from itertools import cycle
from typing import NamedTuple

from warroom.core.rng import hash_bytes
from warroom.core.splits import Split
from warroom.sim.counts import USERS
from warroom.sim.streams.cache import CACHE
from warroom.sim.streams.db import DB
from warroom.sim.streams.gateway import GATEWAY
from warroom.sim.streams.queue import QUEUE
from warroom.sim.streams.service import SERVICE
from warroom.sim.streams.template import CALL_ROLES, KindTemplates, Level, Names, Role, Template, group
from warroom.sim.topology import ServiceSystem

KINDS: dict[str, dict[Split, KindTemplates]] = {
    "gateway": GATEWAY, "service": SERVICE, "db": DB, "cache": CACHE, "queue": QUEUE,
}  # fmt: skip
_EXCLUSIVE: frozenset[Role] = CALL_ROLES | {"failed", "slow"}
"""Roles of which a component uses two templates, which share the events; all others are used side by side."""
_SLOT = re.compile(r"\{(\w+)\}")
_FIRST_SHARE = 0.7
"""Of the two, the share of the more frequent one."""


class LineStream(NamedTuple):
    """One kind of line of one component. Only its figures differ from line to line."""

    level: Level
    text: str
    share: float
    """Of its group's lines, 0 to 1."""
    literal: str
    """What every line of it contains, in lower case: words are looked up here."""


class StreamGroup(NamedTuple):
    """Streams that tell of the same events of a component."""

    position: int
    """Among the groups of the component."""
    role: Role
    place: int
    """Which of the system's `links` it is about; `USERS` if about none."""
    rate: float
    """Lines per event."""
    streams: tuple[LineStream, ...]


def stream_groups(system: ServiceSystem, service: int, split: Split, key: bytes) -> tuple[StreamGroup, ...]:
    """Everything that a component may write; the choice depends on the key and the component alone."""
    kind = KINDS[system.kinds[service]][group(split)]
    begin, end = system.link_ranges[service]
    draws = cycle(hash_bytes(64, service, "streams", key.hex()))
    found: list[StreamGroup] = []
    for role in dict.fromkeys(template.role for template in kind.templates):
        templates = [template for template in kind.templates if template.role == role]
        places = range(begin, end) if role in CALL_ROLES else (USERS,)
        for place in places:
            callee = "" if place == USERS else system.names[system.links[place][1]]
            for chosen in _choose(role, templates, next(draws)):
                shares = (1.0,) if len(chosen) == 1 else (_FIRST_SHARE, 1 - _FIRST_SHARE)
                streams = tuple([
                    _stream(template, kind.names, callee, next(draws), share)
                    for template, share in zip(chosen, shares, strict=True)
                ])  # fmt: skip
                found.append(StreamGroup(len(found), role, place, chosen[0].rate, streams))
    return tuple(found)


def _choose(role: Role, templates: list[Template], draw: int) -> list[list[Template]]:
    if role not in _EXCLUSIVE:
        return [[template] for template in templates]
    first = draw % len(templates)
    second = (first + 1 + draw // len(templates) % (len(templates) - 1)) % len(templates)
    return [[templates[first], templates[second]]]


def _stream(template: Template, names: Names, callee: str, draw: int, share: float) -> LineStream:
    def fill(slot: re.Match[str]) -> str:
        name = slot[1]
        if name in names:
            return names[name][(draw + len(name)) % len(names[name])]
        return callee if name == "callee" else slot[0]

    text = _SLOT.sub(fill, template.text)
    return LineStream(template.level, text, share, f"{template.level} {_SLOT.sub('', text)}".lower())
