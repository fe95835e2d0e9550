"""What became of an episode, in one line."""

from collections.abc import Sequence

from warroom.episode import Episode
from warroom.view.contract_truth import PageEvidence, PageLearned, PageMark, PageVerdict, Tone
from warroom.view.telling import SEATS, AnyTeller

GOOD, BAD = 0.8, 0.3
"""Scores from which an episode is won, and below which it is lost."""
DECISIVE = ("blunder", "mistake")
MOST_TURNS = 3
"""Turns that a verdict names."""


def verdict(teller: AnyTeller | None, played: Episode, marks: Sequence[PageMark]) -> PageVerdict:
    """The line without truth, and with it: where it was won or lost, and where the fault came from."""
    count = played.steps[-1].turn + 1 if played.steps else 0
    safe = f"Ended in turn {count}."
    tone = tone_of(played)
    if teller is None:
        return PageVerdict(safe, f"{WORDS[tone]} in turn {count}.", tone, ())
    faults = sorted([m for m in marks if m.grade in DECISIVE and m.why], key=lambda mark: -mark.loss)[:MOST_TURNS]
    turns = tuple([mark.turn for mark in faults])
    cause, missed = teller.cause(), teller.missed()
    ends = "; ".join([part for part in (cause, missed) if part])
    if tone == "good" or not faults:
        return PageVerdict(
            safe, f"{WORDS[tone]} in turn {count}{f': {ends}' if ends else ''}.", tone, turns or (count,)
        )
    why = str(faults[0].why).rstrip(".")
    said = "; ".join(
        [part for part in (why.replace("The ", "the ", 1) if why.startswith("The ") else why, cause) if part]
    )
    return PageVerdict(safe, f"{WORDS[tone]}{_AT[tone]} turn {turns[0]}: {said}.", tone, turns)


WORDS: dict[Tone, str] = {"good": "Won", "fair": "Won in part", "bad": "Lost"}

_AT: dict[Tone, str] = {"good": " in", "fair": "; the worst mistake was in", "bad": " at"}
"""How the turn of the worst act follows."""


def tone_of(played: Episode) -> Tone:
    """Whether an episode was won, in part, or lost."""
    if not played.outcome.get("solved") or played.score < BAD:
        return "bad"
    return "good" if played.score >= GOOD else "fair"


def evidence_in_words(found: PageEvidence, facts: int) -> list[str]:
    """When the proof was on the table, for the debriefing."""
    if not facts:
        return []
    if found.complete is None:
        first = f"the first piece was read by {_who(found.first)}" if found.first else "none of it was read"
        return [f"The proof was never on the table: {first}."]
    head = found.one_head
    knew = f"{_who(head)} alone knew all of it" if head else "no seat knew all of it"
    return [f"The proof was on the table when {_who(found.complete)} read its last piece; {knew}."]


def _who(learned: PageLearned) -> str:
    return f"{SEATS.get(learned.seat, learned.seat).removeprefix('The ')} (turn {learned.turn})"
