"""The expert of the desk: evidence alone. It reads every document on the product, and for whom each holds."""

import re
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs.tickets.facts import Fact, Version, release
from warroom.envs.tickets.policies.naive import SEARCHES
from warroom.envs.tickets.policies.notes import Notes, read_document, release_of
from warroom.envs.tickets.prose import plain_instructions
from warroom.envs.tickets.views import OpenedDocument, SearchResults, TicketsObservation
from warroom.envs.tickets.vocabulary import HARDWARE, SITES

SURE = 0.97
"""Confidence in an answer that one document alone gives; where several do, it is shared."""
MAX_OPENED = 12
"""Documents that it opens at most: turns are counted."""


class Person(NamedTuple):
    """What a ticket says of who wrote it."""

    text: str
    version: Version
    hardware: str
    site: str

    @classmethod
    def of(cls, ticket: str) -> "Person":
        """Read a ticket."""
        return cls(
            ticket,
            release_of(ticket),
            next((name for name in HARDWARE if name in ticket), ""),
            next((name for name in SITES if name in ticket), ""),
        )

    def satisfies(self, notes: Notes) -> bool:
        """Whether a document holds for the person, as far as the ticket tells."""
        return (
            (not notes.below or self.version < notes.below)
            and (not notes.since or self.version >= notes.since)
            and (not notes.hardware or self.hardware in ("", *notes.hardware))
            and (not notes.sites or self.site in ("", *notes.sites))
        )


class ProposedAnswer(NamedTuple):
    """What the expert would submit."""

    facts: tuple[Fact, ...]
    citations: tuple[str, ...]
    confidence: float
    handoff: tuple[str, ...] = ()
    """What a human must know; empty if there is an answer."""

    def submission(self) -> ToolCall:
        """As a call."""
        text = f"Escalate to a human: {', '.join(self.handoff)}." if self.handoff else plain_instructions(self.facts)
        return ToolCall("submit_resolution", {
            "resolution": text, "citations": list(self.citations), "confidence": self.confidence,
            "escalate": bool(self.handoff),
        })  # fmt: skip


def named_in(ticket: str, vendor: str) -> bool:
    """Whether a ticket names a product by its vendor."""
    return (
        bool(vendor)
        and vendor in ticket.replace(".", " ").replace(",", " ").replace(":", " ").replace(";", " ").split()
    )


def conclude(ticket: str, documents: Sequence[OpenedDocument]) -> ProposedAnswer:
    """What follows from a ticket and documents: the article that holds for this person, or a hand-over."""
    person = Person.of(ticket)
    about = [notes for notes in map(read_document, documents) if named_in(ticket, notes.vendor)]
    for notes in about:
        if notes.queue and any(topic in ticket.lower() for topic in notes.topics):
            return ProposedAnswer((), (notes.id,), SURE, (notes.queue, notes.vendor))
    gone = {id for notes in about if notes.facts for id in notes.replaces if id != notes.id}
    whose = next((notes.holds for notes in about if notes.holds), "")
    main = subject_of(about)
    fitting = [n for n in about if n.facts and n.subject == main and n.id not in gone and person.satisfies(n)]
    if len(fitting) > 1 and whose:
        fitting = [n for n in fitting if n.team == whose] or fitting
    if not fitting:
        vendor = about[0].vendor if about else product_in(ticket)
        return ProposedAnswer((), (), SURE, tuple(filter(None, (vendor, release(person.version), person.site))))
    first = fitting[0]
    second = continuation(first, about, person)
    facts = (*first.facts, *(second.facts if second else ()))
    ids = (first.id, *((second.id,) if second else ()))
    return ProposedAnswer(facts, ids, SURE / len(fitting))


def subject_of(about: Sequence[Notes]) -> str:
    """What most procedures on the product are about."""
    subjects = [notes.subject for notes in about if notes.facts and (notes.below or notes.since)]
    return max(subjects, key=subjects.count) if subjects else ""


def continuation(first: Notes, about: Sequence[Notes], person: Person) -> Notes | None:
    """The second procedure that a document refers to, for this person's site."""
    for notes in about:
        if (
            notes.facts
            and notes.subject != first.subject
            and notes.subject in first.continues
            and person.satisfies(notes)
        ):
            return notes
    return None


_PRODUCT = re.compile(r"\bthe ([A-Z][a-z]{3,})")


def product_in(ticket: str) -> str:
    """The vendor that a ticket names, as far as its form tells: a name behind an article."""
    names = [name for name in _PRODUCT.findall(ticket) if name not in (*HARDWARE, *SITES)]
    return names[0] if names else ""


class TicketsExpert:
    """One desk: in the multi-turn mode it searches all three collections and opens what is about the product."""

    def __init__(self, brief: Brief, rng: Random) -> None:
        self.ticket = ""
        self.opened: list[OpenedDocument] = []
        self.searches = [] if len(brief.tools) == 1 else list(SEARCHES)
        self.get = ""
        """The tool that opens what the latest search found."""
        self.pending_calls: dict[str, ToolCall] = {}
        """Calls that open what is about the product, by document."""

    def act(self, observation: Observation) -> ToolCall:
        """Search, open, then submit what follows."""
        if isinstance(observation, TicketsObservation):
            self._record_observation(observation)
            if self.searches:
                search = self.searches.pop(0)
                self.get = SEARCHES[search]
                return ToolCall(search, {"query": product_in(self.ticket) or self.ticket[:400], "limit": 10})
            if self.pending_calls and len(self.opened) < MAX_OPENED:
                return self.pending_calls.pop(next(iter(self.pending_calls)))
        return conclude(self.ticket, self.opened).submission()

    def _record_observation(self, page: TicketsObservation) -> None:
        self.ticket = page.ticket
        self.opened += page.context
        if isinstance(page.result, OpenedDocument):
            self.opened.append(page.result)
        if isinstance(page.result, SearchResults):
            about = [hit.id for hit in page.result.hits if named_in(self.ticket, hit.title.split()[0])]
            self.pending_calls |= {id: ToolCall(self.get, {"id": id}) for id in about}
