"""Certificates of tickets: that the right answer stands in what is at hand, is the only one, and can be read there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from warroom.core.env import Env
from warroom.envs import make
from warroom.envs.tickets.env import TicketsEnv
from warroom.envs.tickets.fact_matching import instructs, tokenize
from warroom.envs.tickets.policies.expert import Person
from warroom.envs.tickets.policies.notes import read_document
from warroom.envs.tickets.views import OpenedDocument
from warroom.evals.audit.certify import CertificateRow, Checks
from warroom.evals.audit.tickets.moves import desk_of
from warroom.policies import policy_set


@dataclass(frozen=True)
class TicketRow(CertificateRow):
    """What was found of one ticket."""

    AGGREGATE_ONLY: ClassVar[frozenset[str]] = frozenset({"expert right", "one document holds"})
    test: str
    at_hand: bool
    """The right documents are among those shown."""
    written: tuple[bool, ...]
    """Whether each step of the answer can be read in a right document."""
    alone: bool | None
    """No other document holds for the person, as far as the ticket tells; None where there is nothing to answer, and
    where a document that holds is replaced or overruled by another."""
    solved: bool
    """The oracle gets the score of 1."""
    expert: bool
    """The expert, who reads what is shown, is right."""
    words: int
    """Of the ticket."""

    def checks(self) -> Checks:
        """Being alone and the expert are judged by their shares: tickets may leave out what decides."""
        return {
            "right documents at hand": [self.at_hand],
            "steps written there": self.written,
            "one document holds": [] if self.alone is None else [self.alone],
            "oracle solves": [self.solved],
            "expert right": [self.expert],
        }

    def metrics(self) -> Mapping[str, float]:
        """The ticket's length."""
        return {"words of the ticket": float(self.words)}


def certify(fresh: Env, scenario: str) -> TicketRow:
    """Certify the ticket of a fresh env."""
    desk = desk_of(fresh)
    case = desk.case
    gold = [tokenize(desk.base.documents[id].body) for id in case.gold]
    return TicketRow(
        scenario, desk.tier, desk.seed, 0, case.kind,
        at_hand=set(case.gold) <= set(case.context),
        written=tuple([any(instructs(fact, words) for words in gold) for fact in case.facts]),
        alone=alone(desk),
        solved=_outcome(desk, scenario, "oracle")[0] == 1.0,
        expert=_outcome(desk, scenario, "expert")[1],
        words=len(case.text.split()),
    )  # fmt: skip


def alone(desk: TicketsEnv) -> bool | None:
    """Whether the right article is the only one on the product that holds for the person."""
    case = desk.case
    if case.escalate or case.kind in ("stale", "contradictory"):
        return None
    person = Person.of(case.text)
    about = [desk.base.documents[id] for id in case.related]
    main = desk.base.documents[case.gold[0]].title
    read_ = [read_document(OpenedDocument(d.id, d.title, d.body)) for d in about if d.facts and d.title == main]
    return [notes.id for notes in read_ if person.satisfies(notes)] == [case.gold[0]]


def _outcome(desk: TicketsEnv, scenario: str, policy: str) -> tuple[float, bool]:
    """Score, and whether it was verified."""
    env = make(scenario, desk.tier, desk.seed, mode=desk.mode)
    seat = policy_set(env.name, policy).seat(env, env.seat)
    while not env.done:
        env.step(seat.act(env.observe()))
    return round(env.score(), 9), env.outcome()["solved"] is True
