"""Certificates of tickets: the right answer is in the documents at hand, is the only one, and can be read there."""

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
from warroom.evals.audit.outcomes import narrowed, play_out
from warroom.policies import policy_set


@dataclass(frozen=True)
class TicketRow(CertificateRow):
    """The findings on one ticket."""

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
    """The expert, which reads the documents, is right."""
    words: int
    """Of the ticket."""

    def checks(self) -> Checks:
        """Two checks are judged by their shares over many tickets, since a ticket may omit what decides."""
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
    env = narrowed(fresh, TicketsEnv)
    case, oracle, expert = env.case, _played(env, scenario, "oracle"), _played(env, scenario, "expert")
    gold = [tokenize(env.base.documents[id].body) for id in case.gold]
    return TicketRow(
        scenario, env.tier, env.seed, 0, case.kind,
        at_hand=set(case.gold) <= set(case.context),
        written=tuple([any(instructs(fact, words) for words in gold) for fact in case.facts]),
        alone=alone(env),
        solved=round(oracle.score(), 9) == 1.0,
        expert=expert.outcome()["solved"] is True,
        words=len(case.text.split()),
    )  # fmt: skip


def alone(env: TicketsEnv) -> bool | None:
    """Whether the right article is the only one on the product that holds for the person."""
    case = env.case
    if case.escalate or case.kind in ("stale", "contradictory"):
        return None
    person = Person.of(case.text)
    about = [env.base.documents[id] for id in case.related]
    main = env.base.documents[case.gold[0]].title
    read_ = [read_document(OpenedDocument(d.id, d.title, d.body)) for d in about if d.facts and d.title == main]
    return [notes.id for notes in read_ if person.satisfies(notes)] == [case.gold[0]]


def _played(env: TicketsEnv, scenario: str, policy: str) -> Env:
    """The same ticket after a shipped policy played it."""
    return play_out(make(scenario, env.tier, env.seed, mode=env.mode), policy_set(env.name, policy))
