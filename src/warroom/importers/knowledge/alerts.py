"""Prometheus alerting rules as tickets: what the alert says is the text, the runbook it links to the right article."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from warroom.envs.tickets.knowledge import Case, KnowledgeBase
from warroom.envs.tickets.storage import Source
from warroom.importers.knowledge import rules
from warroom.importers.knowledge.identity import Ids
from warroom.importers.knowledge.links import Fate, Links
from warroom.importers.knowledge.oddities import Met, tally
from warroom.importers.knowledge.rules import Alert

IMPORTER = "alerts"
KIND = "imported"
"""The kind of ticket of which only the right article is known, not what its answer must say."""
LINKS = ("runbook_url", "runbook")
"""Annotations that hold the link, the usual one first."""
TEXTS = ("summary", "title", "description", "message")
"""Annotations that make the text, in the order in which a person would read them."""
UNDECIDED = (Fate.TEMPLATED, Fate.AMBIGUOUS)
"""Fates of links that mean an article nobody can tell from here: neither answer nor hand-over could be graded."""


class Oddity(StrEnum):
    """What is odd about an alert."""

    NO_TEXT = "no_text"
    TWICE = "twice"
    OTHER_LINK = "other_link"


MEANING: dict[StrEnum, str] = {
    **rules.MEANING,
    Oddity.NO_TEXT: f"alerts without any text ({', '.join(TEXTS)}): left out",
    Oddity.TWICE: "alerts that say the same as an earlier one: left out",
    Oddity.OTHER_LINK: "of these, alerts with another link than the earlier one: its link counts",
    Fate.DANGLING: "alerts whose link means no article here: tickets to hand over",
    Fate.MISSING: "alerts without a link: tickets to hand over",
    Fate.TEMPLATED: "alerts with a template in the link, which means an article that cannot be told: left out",
    Fate.AMBIGUOUS: "alerts whose link fits several articles: left out",
}


class Tickets(NamedTuple):
    """What an import of tickets brings into a knowledge base."""

    cases: tuple[Case, ...]
    source: Source


def import_alerts(
    files: Sequence[Path], name: str, base: KnowledgeBase, watch: Callable[[int], None] = lambda count: None
) -> Tickets:
    """Tickets of all alerting rules in the files, with the link's article as gold; `name` is what they are called.

    An alert whose link dangles or is missing must be handed over. Templates in texts stay as they are written.
    """
    met = list[Met]()
    read = list(rules.read_alerts(files, met, watch))
    if not read:
        raise ValueError(f"no alerting rule in {len(files)} files ({name}){_first(met)}")
    links, ids = Links(base.documents.values()), Ids()
    cases, fates = list[Case](), Counter[Fate]()
    for alert, text in _distinct(read, met):
        fate, id = links.resolve(_link(alert))
        fates[fate] += 1
        if fate is not Fate.FOUND:
            met.append(Met(fate, f"{alert.name} ({alert.where}): {_link(alert) or 'no link'}"))
        if fate not in UNDECIDED:
            cases.append(_case(ids.take(alert.name), text, id))
    counts = {"alerts": len(read), "tickets": len(cases), **{what: fates[fate] for fate, what in _COUNTED.items()}}
    return Tickets(tuple(cases), Source(IMPORTER, name, counts, tally(met, MEANING)))


_COUNTED = {
    Fate.FOUND: "gold",
    Fate.DANGLING: "dangling",
    Fate.MISSING: "missing",
    Fate.TEMPLATED: "templated",
    Fate.AMBIGUOUS: "ambiguous",
}


def _case(id: str, text: str, article: str) -> Case:
    gold = (article,) if article else ()
    return Case(id, text, KIND, gold=gold, facts=(), escalate=not article)


def _first(met: Sequence[Met]) -> str:
    return f"; the first thing in the way: {met[0].kind}, {met[0].example}" if met else ""


def _distinct(alerts: Sequence[Alert], met: list[Met]) -> Iterator[tuple[Alert, str]]:
    """Alerts with their text, each text once: rules often differ only in threshold and window, which no text tells."""
    seen: dict[str, Alert] = {}
    for alert in alerts:
        text = _text(alert)
        if not text:
            met.append(Met(Oddity.NO_TEXT, f"{alert.name} ({alert.where})"))
        elif text in seen:
            met.append(Met(Oddity.TWICE, f"{alert.name} ({alert.where})"))
            if _link(alert) != _link(seen[text]):
                met.append(Met(Oddity.OTHER_LINK, f"{alert.name} ({alert.where}): {_link(alert) or 'no link'}"))
        else:
            seen[text] = alert
            yield alert, text


def _text(alert: Alert) -> str:
    """Name and texts, one a line; "" where only the name is there."""
    texts = [alert.annotations[name].strip() for name in TEXTS if alert.annotations.get(name, "").strip()]
    return "\n".join((alert.name, *dict.fromkeys(texts))) if texts else ""


def _link(alert: Alert) -> str:
    given = (alert.annotations.get(name, "").strip() for name in LINKS)
    return next(filter(None, given), "")
