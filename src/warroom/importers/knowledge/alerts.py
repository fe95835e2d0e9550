"""Prometheus alerting rules as tickets: what the alert says is the text, the runbook it links to the right article."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from warroom.envs.tickets.knowledge import KnowledgeBase, TicketCase
from warroom.envs.tickets.storage import ImportSource
from warroom.importers.knowledge import rules
from warroom.importers.knowledge.issues import ImportIssue, summarize_issues
from warroom.importers.knowledge.links import LinkResolver, LinkStatus
from warroom.importers.knowledge.rules import AlertRule
from warroom.importers.knowledge.unique_ids import UniqueIds

IMPORTER = "alerts"
KIND = "imported"
"""The kind of ticket of which only the right article is known, not what its answer must say."""
LINKS = ("runbook_url", "runbook")
"""Annotations that hold the link, the usual one first."""
TEXTS = ("summary", "title", "description", "message")
"""Annotations that make the text, in the order in which a person would read them."""
UNDECIDED = (LinkStatus.TEMPLATED, LinkStatus.AMBIGUOUS)
"""Fates of links that mean an article nobody can tell from here: neither answer nor hand-over could be graded."""


class AlertIssue(StrEnum):
    """What is odd about an alert."""

    NO_TEXT = "no_text"
    DUPLICATE = "twice"
    OTHER_LINK = "other_link"


ISSUE_MESSAGES: dict[StrEnum, str] = {
    **rules.ISSUE_MESSAGES,
    AlertIssue.NO_TEXT: f"alerts without any text ({', '.join(TEXTS)}): left out",
    AlertIssue.DUPLICATE: "alerts that say the same as an earlier one: left out",
    AlertIssue.OTHER_LINK: "of these, alerts with another link than the earlier one: its link counts",
    LinkStatus.DANGLING: "alerts whose link means no article here: tickets to hand over",
    LinkStatus.MISSING: "alerts without a link: tickets to hand over",
    LinkStatus.TEMPLATED: "alerts with a template in the link, which means an article that cannot be told: left out",
    LinkStatus.AMBIGUOUS: "alerts whose link fits several articles: left out",
}


class ImportedTickets(NamedTuple):
    """What an import of tickets brings into a knowledge base."""

    cases: tuple[TicketCase, ...]
    source: ImportSource


def import_alerts(
    files: Sequence[Path], name: str, base: KnowledgeBase, on_progress: Callable[[int], None] = lambda count: None
) -> ImportedTickets:
    """Tickets of all alerting rules in the files, with the link's article as gold; `name` is what they are called.

    An alert whose link dangles or is missing must be handed over. Templates in texts stay as they are written.
    """
    issues = list[ImportIssue]()
    read = list(rules.read_alerts(files, issues, on_progress))
    if not read:
        raise ValueError(f"no alerting rule in {len(files)} files ({name}){_first(issues)}")
    links, ids = LinkResolver(base.documents.values()), UniqueIds()
    cases, fates = list[TicketCase](), Counter[LinkStatus]()
    for alert, text in _distinct(read, issues):
        status, id = links.resolve(_link(alert))
        fates[status] += 1
        if status is not LinkStatus.FOUND:
            issues.append(ImportIssue(status, f"{alert.name} ({alert.where}): {_link(alert) or 'no link'}"))
        if status not in UNDECIDED:
            cases.append(_case(ids.allocate(alert.name), text, id))
    counts = {"alerts": len(read), "tickets": len(cases), **{what: fates[status] for status, what in _COUNTED.items()}}
    return ImportedTickets(tuple(cases), ImportSource(IMPORTER, name, counts, summarize_issues(issues, ISSUE_MESSAGES)))


_COUNTED = {
    LinkStatus.FOUND: "gold",
    LinkStatus.DANGLING: "dangling",
    LinkStatus.MISSING: "missing",
    LinkStatus.TEMPLATED: "templated",
    LinkStatus.AMBIGUOUS: "ambiguous",
}


def _case(id: str, text: str, article: str) -> TicketCase:
    gold = (article,) if article else ()
    return TicketCase(id, text, KIND, gold=gold, facts=(), escalate=not article)


def _first(issues: Sequence[ImportIssue]) -> str:
    return f"; the first thing in the way: {issues[0].kind}, {issues[0].example}" if issues else ""


def _distinct(alerts: Sequence[AlertRule], issues: list[ImportIssue]) -> Iterator[tuple[AlertRule, str]]:
    """Alerts with their text, each text once: rules often differ only in threshold and window, which no text tells."""
    seen: dict[str, AlertRule] = {}
    for alert in alerts:
        text = _text(alert)
        if not text:
            issues.append(ImportIssue(AlertIssue.NO_TEXT, f"{alert.name} ({alert.where})"))
        elif text in seen:
            issues.append(ImportIssue(AlertIssue.DUPLICATE, f"{alert.name} ({alert.where})"))
            if _link(alert) != _link(seen[text]):
                issues.append(
                    ImportIssue(AlertIssue.OTHER_LINK, f"{alert.name} ({alert.where}): {_link(alert) or 'no link'}")
                )
        else:
            seen[text] = alert
            yield alert, text


def _text(alert: AlertRule) -> str:
    """Name and texts, one a line; "" where only the name is there."""
    texts = [alert.annotations[name].strip() for name in TEXTS if alert.annotations.get(name, "").strip()]
    return "\n".join((alert.name, *dict.fromkeys(texts))) if texts else ""


def _link(alert: AlertRule) -> str:
    given = (alert.annotations.get(name, "").strip() for name in LINKS)
    return next(filter(None, given), "")
