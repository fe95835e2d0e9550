"""What a careful reader takes from a document: for whom it holds, what it has people do, what it says of others."""

import re
from typing import NamedTuple

from warroom.envs.tickets.fact_matching import forbids, tokenize
from warroom.envs.tickets.facts import Fact, Version
from warroom.envs.tickets.views import OpenedDocument
from warroom.envs.tickets.vocabulary import DOMAINS, HARDWARE, SITES, TEAMS, TOPICS

KEYS = {key.name: key.unit for domain in DOMAINS.values() for key in domain.keys}
TOPIC_WORDS = tuple(dict.fromkeys(said for topics in TOPICS.values() for said, _ in topics))
_COMMAND = re.compile(r"\b([a-z]+ctl) ([a-z]+) ([a-z]+-\d{4})\b")
_GROUP = re.compile(r"\bgrp-[a-z]+-\d{4}\b")
_ID = re.compile(r"\b(?:KB|TKT|INC)-\d{5}\b")
_QUEUE = re.compile(r"\bQ-\d{3}\b")
_RELEASE = re.compile(r"\b(\d+)\.(\d+)(?:\.(\d+))?\b")
_BELOW = re.compile(r"below|older|before|not reached|up to but not|prior|earlier")
_TEAM = re.compile(rf"\b({'|'.join(TEAMS)}) team")
_INJECTED = re.compile(
    r"assistant|language model|\bsystem:|your operator|report full certainty|ignore the other", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
CHECKS = frozenset({"status"})
"""Verbs that only look."""


class Notes(NamedTuple):
    """A document as a careful reader understands it."""

    id: str
    vendor: str
    subject: str
    """What the title says after the product."""
    below: Version
    since: Version
    hardware: tuple[str, ...]
    sites: tuple[str, ...]
    facts: tuple[Fact, ...]
    """What it has people do, in the order in which it says so."""
    replaces: tuple[str, ...]
    """Documents that it speaks of as gone."""
    team: str
    holds: str
    """The team whose notes hold, where it says so."""
    queue: str
    """The queue of a policy."""
    topics: tuple[str, ...]
    continues: str
    """The text after which another procedure is to be followed; empty if none."""


def injected(body: str) -> bool:
    """Whether a text gives orders to its reader."""
    return bool(_INJECTED.search(body))


def sentences(body: str) -> list[str]:
    """The sentences and lines of a text."""
    return [sentence for sentence in _SENTENCE.split(body) if sentence]


def read_document(document: OpenedDocument) -> Notes:
    """Read a document. What is aimed at its reader is left out."""
    body = " ".join([s for s in sentences(document.body) if not injected(s)])
    product, _, subject = document.title.partition(": ")
    bound = next((tuple(int(n) for n in m.groups() if n) for m in _RELEASE.finditer(body)), ())
    near = _around(body, bound)
    facts = instructed_facts(body)
    rule = not facts
    team = _TEAM.search(body)
    return Notes(
        id=document.id,
        vendor=product.split()[0] if product else "",
        subject=subject,
        below=bound if bound and _BELOW.search(near) else (),
        since=bound if bound and not _BELOW.search(near) else (),
        hardware=tuple([name for name in HARDWARE if name in body]),
        sites=tuple([name for name in SITES if name in body]),
        facts=facts,
        replaces=tuple(_ID.findall(body)),
        team=team.group(1) if team and not rule else "",
        holds=team.group(1)
        if (team and rule and "disagree" in body) or (team and rule and "contradict" in body)
        else "",
        queue=next(iter(_QUEUE.findall(body)), ""),
        topics=tuple([topic for topic in TOPIC_WORDS if topic in body]),
        continues=body if "procedure" in body else "",
    )


def _around(body: str, bound: Version) -> str:
    """The words beside a release number."""
    if not bound:
        return ""
    at = body.find(".".join(map(str, bound)))
    return body[max(0, at - 45) : at + 30].lower()


def instructed_facts(text: str) -> tuple[Fact, ...]:
    """The facts that a text tells its reader to do, in order."""
    words = tokenize(text)
    found: dict[Fact, int] = {}
    for match in _COMMAND.finditer(_plain(text)):
        tool, verb, name = match.groups()
        if verb not in CHECKS:
            found.setdefault(Fact("command", (tool, verb, name)), match.start())
    for match in _GROUP.finditer(text.lower()):
        found.setdefault(Fact("group", (match.group(),)), match.start())
    for key, unit in KEYS.items():
        for match in re.finditer(rf"\b{key}\b\D{{0,40}}?(\d+) {unit}|\b(\d+) {unit}\D{{0,20}}\b{key}\b", _plain(text)):
            found.setdefault(Fact("setting", (key, match.group(1) or match.group(2), unit)), match.start())
    kept = [(at, fact) for fact, at in found.items() if not forbids(fact, words)]
    return tuple([fact for _, fact in sorted(kept, key=lambda pair: pair[0])])


def _plain(text: str) -> str:
    return re.sub(r"[`\"]", " ", text.lower()).replace("  ", " ")


def release_of(ticket: str) -> Version:
    """The release that a ticket names, with three numbers; empty if none."""
    found = [m for m in _RELEASE.finditer(ticket) if m.group(3)]
    return tuple(int(n) for n in found[0].groups()) if found else ()
