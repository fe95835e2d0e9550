"""Policies of the desk that weigh no evidence, or little: what a trained one has to beat."""

from collections.abc import Callable, Sequence
from random import Random

from warroom.core.scenario import PolicyMaker
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs.tickets.policies.notes import told
from warroom.envs.tickets.search import Index
from warroom.envs.tickets.views import DeskPage, Found, Opened

Move = Callable[[str, Sequence[Opened]], ToolCall]
"""(ticket, documents at hand) -> a submission."""
OPENED = 2
"""Documents of each collection that such a policy opens in the multi-turn mode."""
SEARCHES = {"search_kb": "get_article", "search_tickets": "get_ticket", "search_incidents": "get_incident"}
"""Tools that search, and what opens whatever each finds."""
CONFIDENT = 0.5
"""Confidence of policies that do not think about it."""


def submit(text: str, citations: Sequence[str], confidence: float, escalate: bool = False) -> ToolCall:
    """A submission."""
    return ToolCall("submit_resolution", {
        "resolution": text, "citations": list(citations), "confidence": confidence, "escalate": escalate,
    })  # fmt: skip


class Reader:
    """Looks at what comes with the ticket, or searches each collection and opens the best of each; then submits."""

    def __init__(self, move: Move, brief: Brief) -> None:
        self.move, self.ticket = move, ""
        self.searches = [] if len(brief.tools) == 1 else list(SEARCHES)
        self.documents: list[Opened] = []
        self.get = ""
        """The tool that opens what the latest search found."""
        self.waiting: list[ToolCall] = []

    def act(self, observation: Observation) -> ToolCall:
        """Search, open, submit."""
        if isinstance(observation, DeskPage):
            self.ticket = observation.ticket
            self.documents += observation.context
            if isinstance(observation.result, Opened):
                self.documents.append(observation.result)
            if isinstance(observation.result, Found):
                self.waiting += [ToolCall(self.get, {"id": hit.id}) for hit in observation.result.hits[:OPENED]]
            if self.searches:
                search = self.searches.pop(0)
                self.get = SEARCHES[search]
                return ToolCall(search, {"query": self.ticket[:400]})
            if self.waiting:
                return self.waiting.pop(0)
        return self.move(self.ticket, self.documents)


def ranked(ticket: str, documents: Sequence[Opened]) -> list[tuple[Opened, float]]:
    """Documents by how well their words match the ticket's, normalised to 0..1, the best first."""
    if not documents:
        return []
    index = Index({document.id: f"{document.title}\n{document.body}" for document in documents})
    known = {document.id: document for document in documents}
    return [(known[id], score) for id, score in index.search_normalised(ticket, len(documents))]


def top(ticket: str, documents: Sequence[Opened]) -> Opened | None:
    """The document that matches the ticket best."""
    found = ranked(ticket, documents)
    return found[0][0] if found else (documents[0] if documents else None)


def always_escalate(ticket: str, documents: Sequence[Opened]) -> ToolCall:
    """Hand everything over, repeating the ticket."""
    return submit(ticket, (), CONFIDENT, escalate=True)


def paste_top(ticket: str, documents: Sequence[Opened]) -> ToolCall:
    """Answer with the best match as it stands."""
    best = top(ticket, documents)
    return submit(best.body, (best.id,), CONFIDENT) if best else submit("", (), 0.0)


def dump_all(ticket: str, documents: Sequence[Opened]) -> ToolCall:
    """Answer with what the best match has people do, and cite everything."""
    best = top(ticket, documents)
    return submit(best.body if best else "", [document.id for document in documents], CONFIDENT)


def extractive(ticket: str, documents: Sequence[Opened], confidence: float | None = None) -> ToolCall:
    """The naive heuristic: the steps of the best match, if its title names what the ticket names; else a hand-over."""
    best = top(ticket, documents)
    sure = CONFIDENT if confidence is None else confidence
    if best is None or not names_of(best.title) & names_of(ticket):
        return submit(handover(ticket), (), sure, escalate=True)
    return submit(_steps(best) or f"Follow {best.title}.", (best.id,), sure)


def names_of(text: str) -> set[str]:
    """Words with a capital letter or a digit, without their marks."""
    return {w for w in (word.strip(".,:;") for word in text.split()) if w != w.lower()}


def handover(ticket: str) -> str:
    """The words of a ticket that look like names or numbers."""
    names = [
        word.strip(".,:;") for word in ticket.split() if any(letter.isdigit() or letter.isupper() for letter in word)
    ]
    return f"Needs a human: {' '.join(dict.fromkeys(names))}"


def _steps(document: Opened) -> str:
    """The sentences of a document that hold something to type, as they stand."""
    tokens = {fact.token.lower() for fact in told(document.body)}
    sentences = [s.strip(" -") for s in document.body.replace("\n", ". ").split(". ")]
    return ". ".join(
        [s for s in sentences if tokens & set(s.lower().replace('"', " ").replace("`", " ").strip(".").split())]
    )


def _fixed(confidence: float) -> Move:
    return lambda ticket, documents: extractive(ticket, documents, confidence)


MOVES: dict[str, Move] = {
    "always_escalate": always_escalate,
    "paste_top": paste_top,
    "dump_all": dump_all,
    "heuristic": extractive,
    "sure": _fixed(1.0),
    "modest": _fixed(0.0),
}
"""Naive policies by name; `sure` and `modest` are the heuristic with a constant confidence."""


def _maker(move: Move) -> PolicyMaker:
    def make(brief: Brief, rng: Random) -> Reader:
        return Reader(move, brief)

    return make


NAIVE: dict[str, PolicyMaker] = {name: _maker(move) for name, move in MOVES.items()}
