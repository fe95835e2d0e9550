"""The rubric of a ticket: the terms of its one submission, and in the multi-turn mode how the desk came to it."""

from functools import cache, partial

from warroom.core.rubric import Events, Rubric, Term
from warroom.envs.tickets.grade import RANGES, WEIGHTS

PROCESS = 5.0
"""Points for opening what the answer needs, once each."""
REOPENED_PENALTY = 1.0
"""Points of those that each document opened again costs."""

EVENTS = {
    "graded": "a submission got this value of one of the terms (`subject` is `term=value`)",
    "opened": "a document that the answer needs was opened (or, where none can help, the base was searched)",
    "opened_again": "a document was opened that had been opened before",
    "decided": "the submission decided rightly between answering and handing over",
}
"""What each event means; the documentation is made from this."""


def graded(events: Events, term: str) -> float:
    """The value that a term got; 0 before the submission."""
    begin = f"{term}="
    return next(
        (float(e.subject[len(begin) :]) for e in events if e.name == "graded" and e.subject.startswith(begin)), 0.0
    )


@cache
def ticket_rubric(needed: int, calibration: float = 1.0) -> Rubric:
    """The rubric of a ticket whose answer needs so many documents opened; 0 in the single-turn mode.

    `calibration` multiplies the points of that term: for training, where its gradient is small beside that of the rest.
    """
    terms = [_term(name, calibration if name == "calibration" else 1.0) for name in WEIGHTS]
    if needed:
        terms.append(Term("process", partial(_process, needed), 0.0, PROCESS))
    return Rubric(tuple(terms))


def _term(name: str, factor: float) -> Term:
    low, high = RANGES[name]
    weight = factor * WEIGHTS[name]
    return Term(name, partial(_weighted, weight, name), weight * low, weight * high)


def _weighted(weight: float, name: str, events: Events, turns: int) -> float:
    return weight * graded(events, name)


def _process(needed: int, events: Events, turns: int) -> float:
    """Paid with a right decision alone: looking at everything and deciding wrongly is worth nothing."""
    names = [event.name for event in events]
    if "decided" not in names:
        return 0.0
    return max(0.0, PROCESS * names.count("opened") / needed - REOPENED_PENALTY * names.count("opened_again"))
