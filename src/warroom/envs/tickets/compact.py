"""A ticket with its documents in a few dozen words, for models too small to read prose.

Documents become letters, subjects become numbered slots; for each document it says how its conditions compare with
the ticket, what it says of the others, and whether it has steps. The careful reader's notes are made beforehand: what
is left to the model is to weigh them, to choose, to cite, and to say how sure it is. An answer names documents; their
steps follow from them. It knows the single-turn mode only.
"""

from collections.abc import Mapping, Sequence

from warroom.core.renderer import Vocab
from warroom.core.types import Brief, JsonObject, Message, Observation, ToolCall
from warroom.envs.compact import LineRenderer, make_vocab
from warroom.envs.tickets.facts import Fact, release
from warroom.envs.tickets.policies.expert import Person, named_in, product_in
from warroom.envs.tickets.policies.notes import Notes, injected, read_document
from warroom.envs.tickets.prose import plain_instructions
from warroom.envs.tickets.views import OpenedDocument, TicketsObservation
from warroom.envs.tickets.vocabulary import TEAMS

LETTERS = tuple(f"d{k}" for k in range(16))
"""Documents of a page, in the order in which they stand there."""
SUBJECTS = tuple(f"q{k}" for k in range(16))
"""What titles speak of, in the order in which they come up."""
SURE = tuple(f"c{k}" for k in range(11))
"""Confidence in tenths."""
HAND = "hand"
"""Hands the ticket over, with or without a document that says so."""
SUBMIT = "submit_resolution"
WORDS = (
    "desk", "ticket", "this", "other", "in", "out", "same", "else", "any", "unsaid", "box", "site", "steps", "none",
    "ends", "by",
    "holds", "reserved", "touched", "then", "about", "orders", "past", "over", "refused", "nothing",
)  # fmt: skip


def compact_vocab() -> Vocab:
    """Every word of the compact rendering."""
    words = (SUBMIT, *LETTERS, *SUBJECTS, *SURE, *TEAMS, HAND, *WORDS)
    return make_vocab(words, (SUBMIT,), LETTERS, SURE)


class TicketsCompactRenderer(LineRenderer):
    """One ticket's compact rendering."""

    LINE = "documents, hand or not, and how sure"

    def __init__(self, brief: Brief) -> None:
        if len(brief.tools) != 1:
            raise ValueError("the compact rendering of tickets knows the single-turn mode only: play with mode=single")
        super().__init__(brief)
        self.ticket = ""
        self.notes: dict[str, Notes] = {}
        """By letter."""
        self.letter: dict[str, str] = {}
        """By id."""
        self.subjects: list[str] = []

    # -- what the model reads -------------------------------------------------------------------------

    def render_observation(self, observation: Observation) -> str:
        """The ticket's documents, one after another."""
        if isinstance(observation, TicketsObservation) and observation.context:
            return " ".join(self._page(observation))
        text = observation.text if isinstance(observation, Message) else ""
        return "refused" if "Refused" in text else "over" if text else "nothing"

    def _page(self, page: TicketsObservation) -> list[str]:
        if len(page.context) > len(LETTERS):
            raise ValueError(
                f"the compact rendering has {len(LETTERS)} letters; this ticket has {len(page.context)} documents"
            )
        self.ticket = page.ticket
        self.letter = {document.id: letter for document, letter in zip(page.context, LETTERS, strict=False)}
        self.notes = {self.letter[document.id]: read_document(document) for document in page.context}
        person = Person.of(page.ticket)
        out = ["ticket"]
        for document in page.context:
            out += self._row(document, self.notes[self.letter[document.id]], person)
        return out

    def _row(self, document: OpenedDocument, notes: Notes, person: Person) -> list[str]:
        """What one document is to the person and to the others."""
        out = [self.letter[document.id]]
        if not named_in(self.ticket, notes.vendor):
            return [*out, "other"]
        # Whose it is stands beside its letter: which document holds is then found by one look-up.
        out += [*([notes.team] if notes.facts and notes.team else []), "this", "about", self._subject(notes.subject)]
        if notes.facts:
            out += [*_release(notes, person), *_fit("box", notes.hardware, person.hardware)]
            out += [*_fit("site", notes.sites, person.site), "steps"]
        return out + self._remarks(document, notes)

    def _remarks(self, document: OpenedDocument, notes: Notes) -> list[str]:
        """What it says of other documents, of teams and of whom a case belongs to."""
        out = [word for id in notes.replaces if id in self.letter for word in ("ends", self.letter[id])]
        if notes.holds:
            out += ["holds", notes.holds]
        if notes.queue:
            touched = any(topic in self.ticket.lower() for topic in notes.topics)
            out += ["reserved", *(["touched"] if touched else [])]
        out += [word for subject in self._continued(notes) for word in ("then", self._subject(subject))]
        out += ["orders"] if injected(document.body) else []
        return out + (["past"] if not document.id.startswith("KB") else [])

    def _continued(self, notes: Notes) -> list[str]:
        """Subjects of other documents on the product whose procedure it sends the reader to."""
        others = {n.subject for n in self.notes.values() if n.vendor == notes.vendor and n.subject != notes.subject}
        return sorted(subject for subject in others if subject and subject in notes.continues)

    def _subject(self, subject: str) -> str:
        if subject not in self.subjects:
            self.subjects.append(subject)
        return SUBJECTS[self.subjects.index(subject)]

    # -- what the model says --------------------------------------------------------------------------------

    def parse_call(self, name: str, arguments: Mapping[str, object]) -> ToolCall:
        """The submission that a line means; anything else is passed on."""
        line = arguments.get("line")
        if name != SUBMIT or not isinstance(line, str):
            return ToolCall(name, dict(arguments))
        words = line.split()
        cited = [self.notes[word] for word in words if word in self.notes]
        sure = next((SURE.index(word) / 10 for word in words if word in SURE), None)
        fields: JsonObject = {"citations": [notes.id for notes in cited], "escalate": HAND in words}
        fields["resolution"] = (
            self._handover(cited) if HAND in words else plain_instructions(_facts(cited)) if cited else ""
        )
        return ToolCall(name, fields if sure is None else {**fields, "confidence": sure})

    def _handover(self, cited: Sequence[Notes]) -> str:
        """What a human must know."""
        person = Person.of(self.ticket)
        queue = [notes.queue for notes in cited if notes.queue]
        named = next(
            (n.vendor for n in self.notes.values() if named_in(self.ticket, n.vendor)), product_in(self.ticket)
        )
        known = [*queue, named] if queue else [named, release(person.version), person.site]
        return f"Escalate to a human: {', '.join(filter(None, known))}."

    def format_call(self, call: ToolCall) -> tuple[str, JsonObject]:
        """The documents that a submission cites, whether it hands over, and how sure it is; another call as it is."""
        if call.name != SUBMIT:
            return call.name, dict(call.arguments)
        fields = call.arguments
        words = [HAND] if fields.get("escalate") else []
        words += [self.letter[id] for id in fields.get("citations", ()) if id in self.letter]
        confidence = fields.get("confidence")
        if isinstance(confidence, (int, float)):
            words.append(SURE[round(10 * min(1.0, max(0.0, confidence)))])
        return call.name, {"line": " ".join(words)}


def _facts(cited: Sequence[Notes]) -> tuple[Fact, ...]:
    """The steps of the documents, in the order in which they were named."""
    return tuple(dict.fromkeys(fact for notes in cited for fact in notes.facts))


def _release(notes: Notes, person: Person) -> list[str]:
    """Whether the person's release is within the document's bound."""
    if not (notes.below or notes.since):
        return ["any"]
    inside = person.version < notes.below if notes.below else person.version >= notes.since
    return ["in" if inside else "out"]


def _fit(word: str, wanted: Sequence[str], has: str) -> list[str]:
    """Whether a document asks for the hardware or the site that the person has."""
    if not wanted:
        return [word, "any"]
    return [word, ("same" if has in wanted else "else") if has else "unsaid"]
