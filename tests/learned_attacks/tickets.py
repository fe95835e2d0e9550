"""The learned attack on tickets: what the form of tickets, articles and observations reveals, apart from their content.

Classifiers are fitted on some tickets and tested on others with the same phrases: with other phrases they would do
badly for a trivial reason. None sees what decides (for whom an article holds, compared with the author of the ticket),
so whatever it finds is an artefact of how tickets and articles are generated.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from learned_attacks.sampling import fresh_incidents
from warroom.envs import suite
from warroom.envs.tickets.env import TicketsEnv
from warroom.envs.tickets.knowledge import ARTICLE, Document
from warroom.envs.tickets.policies.naive import top
from warroom.envs.tickets.views import OpenedDocument

ANSWERED = frozenset(
    (
        "one_article",
        "several_articles",
        "past_case",
        "stale",
        "contradictory",
        "poisoned",
        "missing_fact",
        "wrong_premise",
    )
)
"""What tickets test that have an answer."""
_UNUSED = re.compile(r"\b(?:draft|archived)\b")
_NAME = re.compile(r"\S*\d\S*|\b[A-Z]\w+")
"""Numbers, identifiers and names: what differs from ticket to ticket, and so tells a learner nothing."""


class ListedDocument(NamedTuple):
    """A document of a page."""

    document: Document
    place: int
    gold: bool
    on_product: bool
    """It is about the ticket's product and complaint, or one of its rules."""
    procedure: bool
    """It has people do something, and says that it may be used."""


@dataclass(frozen=True)
class TicketsAttackSample:
    """One ticket with its documents, and the answer beside."""

    kind: str
    escalate: bool
    ticket: str
    shown: tuple[ListedDocument, ...]

    @property
    def procedures(self) -> list[ListedDocument]:
        """Documents on the product that have people do something."""
        return [one for one in self.shown if one.on_product and one.procedure]


def samples(tier: str, split: str, seeds: Sequence[int]) -> list[TicketsAttackSample]:
    """Tickets of every kind in the single-turn mode, as many of each as there are seeds."""
    scenarios = suite("tickets", "full")
    return [
        sample(env)
        for k in seeds  # tickets of one seed share a knowledge base, which is slow to generate
        for _, env in fresh_incidents(TicketsEnv, scenarios, tier, split, [k], mode="single")
    ]


def sample(env: TicketsEnv) -> TicketsAttackSample:
    """What a learner may look at, and the truth."""
    case = env.case
    documents = [env.base.documents[id] for id in case.context]
    steps = [len(case.evidence.worked.get(id, ())) > 1 for id in case.context]
    shown = [
        ListedDocument(one, k, one.id in case.gold, one.id in case.related, told and not _UNUSED.search(one.body))
        for k, (one, told) in enumerate(zip(documents, steps, strict=True))
    ]
    return TicketsAttackSample(case.kind, case.escalate, case.text, tuple(shown))


def balanced(found: Sequence[TicketsAttackSample]) -> list[TicketsAttackSample]:
    """As many tickets that have an answer as such that need a human, kinds in turn."""
    kinds = {kind: [s for s in found if s.kind == kind] for kind in dict.fromkeys(s.kind for s in found)}
    human = [s for s in found if s.escalate]
    answered = [kinds[k] for k in sorted(ANSWERED & set(kinds))]
    turns = [s for row in zip(*answered, strict=False) for s in row]
    return [*human, *turns[: len(human)]]


# -- what a learner sees ----------------------------------------------------------------------------------


def masked(text: str) -> str:
    """A text without numbers, identifiers and names."""
    return _NAME.sub(" ", text)


def article_shape(one: ListedDocument) -> list[float]:
    """What an article looks like, whatever it says."""
    body = one.document.body
    marks = [float(body.count(mark)) for mark in (".", ",", "`", '"', "\n", ":", "-", ";", "?")]
    numbers = float(len(re.findall(r"\S*\d\S*", body)))
    return [float(len(body)), float(len(body.split())), float(one.place), numbers, *marks,
            float(one.document.kind == ARTICLE)]  # fmt: skip


def page_shape(found: TicketsAttackSample) -> list[float]:
    """How many documents there are, of which kinds and lengths, and how many share a title: no word of them."""
    lengths = sorted([len(one.document.body.split()) for one in found.shown])
    products = sorted([0, *Counter(one.document.title.partition(":")[0] for one in found.shown).values()])
    titles = sorted([0, *Counter(one.document.title for one in found.shown).values()])
    kinds = [sum([one.document.kind == kind for one in found.shown]) for kind in ("article", "ticket", "incident")]
    return [
        float(value)
        for value in (len(lengths), lengths[0], lengths[-1], sum(lengths), *products[-2:], len(products), *titles[-2:],
                      len(titles), *kinds, len(found.ticket.split()), found.ticket.count("."))
    ]  # fmt: skip


# -- learners -----------------------------------------------------------------------------------------------


def roc_area(truth: Sequence[bool], scores: Any) -> float:
    """Area under the receiver operating characteristic."""
    return float(roc_auc_score(list(truth), scores))


def by_words(known: Sequence[tuple[str, bool]], unknown: Sequence[tuple[str, bool]]) -> float:
    """Logistic regression over words that come more than a few times.

    Naive Bayes drowns one telling word in many that tell nothing: it finds a word that stands in every ticket of one
    side with an area of 0.94, this with 1.00.
    """
    counts, model = CountVectorizer(min_df=5, binary=True), LogisticRegression(C=0.1, max_iter=500)
    model.fit(counts.fit_transform([masked(text) for text, _ in known]), [label for _, label in known])
    return roc_area(
        [label for _, label in unknown], model.decision_function(counts.transform([masked(t) for t, _ in unknown]))
    )


def by_shape(known: Sequence[tuple[list[float], bool]], unknown: Sequence[tuple[list[float], bool]]) -> float:
    """Boosted trees over figures."""
    model = GradientBoostingClassifier(n_estimators=80, max_depth=3, subsample=0.7, random_state=0)
    model.fit(np.array([row for row, _ in known]), [label for _, label in known])
    scores = model.predict_proba(np.array([row for row, _ in unknown]))[:, 1]
    return roc_area([label for _, label in unknown], scores)


def _gold_procedures(
    found: Sequence[TicketsAttackSample], features: Callable[[ListedDocument], Any]
) -> list[tuple[Any, bool]]:
    """Procedures of tickets that have an answer and more than one procedure on their product."""
    rows = [s.procedures for s in found if s.kind in ANSWERED]
    return [(features(one), one.gold) for shown in rows if len(shown) > 1 for one in shown]


def _own_words(found: TicketsAttackSample) -> str:
    return " ".join([one.document.body for one in found.shown if one.on_product])


ATTACKS: dict[str, Callable[[Sequence[TicketsAttackSample], Sequence[TicketsAttackSample]], float]] = {
    "human needed, by the ticket's words": lambda known, unknown: by_words(
        [(s.ticket, s.escalate) for s in balanced(known)], [(s.ticket, s.escalate) for s in balanced(unknown)]
    ),
    "human needed, by the page's shape": lambda known, unknown: by_shape(
        [(page_shape(s), s.escalate) for s in balanced(known)], [(page_shape(s), s.escalate) for s in balanced(unknown)]
    ),
    "human needed, by words on the product": lambda known, unknown: by_words(
        [(_own_words(s), s.escalate) for s in balanced(known)], [(_own_words(s), s.escalate) for s in balanced(unknown)]
    ),
    "right article, by its shape": lambda known, unknown: by_shape(
        _gold_procedures(known, article_shape), _gold_procedures(unknown, article_shape)
    ),
    "right article, by its own words": lambda known, unknown: by_words(
        _gold_procedures(known, lambda one: one.document.body), _gold_procedures(unknown, lambda one: one.document.body)
    ),
}
"""Areas under the curve; 0.5 is chance."""


def attack(known: Sequence[TicketsAttackSample], unknown: Sequence[TicketsAttackSample]) -> dict[str, float]:
    """What each attack makes of tickets that it has not seen."""
    return {name: attack_score(known, unknown) for name, attack_score in ATTACKS.items()}


# -- without learning ----------------------------------------------------------------------------------------


class Guess(NamedTuple):
    """How often a rule of thumb names the right document, and how often chance would."""

    hits: float
    chance: float
    n: int


def longest_is_right(found: Sequence[TicketsAttackSample]) -> Guess:
    """Among the procedures on the product, where there are several."""
    return _guess([s.procedures for s in found if s.kind in ANSWERED], lambda one: len(one.document.body))


def first_is_right(found: Sequence[TicketsAttackSample]) -> Guess:
    """The document that stands first on the page."""
    return _guess([list(s.shown) for s in found if s.kind in ANSWERED], lambda one: -one.place)


def _guess(pages: Sequence[list[ListedDocument]], best: Callable[[ListedDocument], float]) -> Guess:
    open_ = [page for page in pages if len(page) > 1]
    hits = [max(page, key=best).gold for page in open_]
    chance = [sum([one.gold for one in page]) / len(page) for page in open_]
    return Guess(float(np.mean(hits)), float(np.mean(chance)), len(open_))


def best_match_is_right(found: Sequence[TicketsAttackSample]) -> dict[str, Guess]:
    """Whether the best match of a full-text search among the procedures on the product is right, by kind."""
    out = {}
    for kind in sorted(ANSWERED):
        pages = [s for s in found if s.kind == kind and len(s.procedures) > 1]
        hits = [_best_of(s).gold for s in pages]
        chance = [sum([one.gold for one in s.procedures]) / len(s.procedures) for s in pages]
        out[kind] = Guess(float(np.mean(hits)), float(np.mean(chance)), len(pages))
    return out


def _best_of(found: TicketsAttackSample) -> ListedDocument:
    known = {one.document.id: one for one in found.procedures}
    best = top(found.ticket, [OpenedDocument(d.id, d.title, d.body) for d in (one.document for one in known.values())])
    assert best is not None
    return known[best.id]
