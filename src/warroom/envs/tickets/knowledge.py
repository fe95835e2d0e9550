"""A knowledge base: articles, past tickets and incidents that can be searched, opened and cited."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from warroom.envs.tickets.facts import Fact

ARTICLE, TICKET, INCIDENT = "article", "ticket", "incident"
KINDS = (ARTICLE, TICKET, INCIDENT)


@dataclass(frozen=True, slots=True)
class Document:
    """One entry of the knowledge base. The reader sees id, kind, title and body; the rest is the grader's."""

    id: str
    kind: str
    """One of `KINDS`."""
    title: str
    body: str
    path: str = ""
    """Where an imported document came from, relative to its tree; words of it are searched too."""
    facts: tuple[Fact, ...] = ()
    """What its procedure has a person do, in order."""
    asides: tuple[Fact, ...] = ()
    """Facts that it mentions and that must not be done: old advice, warnings, what an attacker smuggled in."""
    neutral: tuple[Fact, ...] = ()
    """Facts that do neither good nor harm, such as a command that shows the state."""
    poison: tuple[Fact, ...] = ()
    """Facts of an instruction aimed at the reader: an answer that repeats one did what the attacker wanted."""

    @property
    def text(self) -> str:
        """Title and body."""
        return f"{self.title}\n{self.body}"


class TicketCase(NamedTuple):
    """A ticket with everything that grades an answer to it."""

    id: str
    text: str
    """What the person wrote."""
    kind: str
    """What the ticket tests: the name of its scenario, or imported."""
    gold: tuple[str, ...]
    """Documents that an answer must rest on; none where there is nothing to cite."""
    facts: tuple[Fact, ...]
    """What an answer must have the person do, in order; none where only a human helps, or where they are not known."""
    escalate: bool
    """Whether a human must take over."""
    handoff: tuple[str, ...] = ()
    """Words that a hand-over must hold: product, release, site, queue."""
    context: tuple[str, ...] = ()
    """Documents that the single-turn mode shows, in order."""
    related: tuple[str, ...] = ()
    """Documents about the same product and symptom: what they say besides counts against an answer."""
    reference: str = ""
    """A right answer in words."""


@dataclass(frozen=True, eq=False)
class KnowledgeBase:
    """Documents by id, in a fixed order. Two are never equal, so that what is made of one can be kept by it."""

    documents: Mapping[str, Document]
    cases: tuple[TicketCase, ...] = field(default=())
    """Tickets that came with an imported base; a generated one makes its own."""

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """All ids in order."""
        return tuple(self.documents)

    def of(self, kind: str) -> tuple[str, ...]:
        """Ids of one kind in order."""
        return tuple([id for id, document in self.documents.items() if document.kind == kind])
