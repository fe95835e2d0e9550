"""Plausible scripts that do not read: what a trained policy has to beat.

They differ in what they ask for and in whom they believe; none tells a trouble that brings requests down from one that
they get over. All close alike: severity, root, its owner, the usual remedy of its kind with the object seen last, done.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import NamedTuple

from warroom.core.policy import PolicyFactory
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs.logs.views import (
    ALL,
    RULE,
    Access,
    Catalogue,
    LogsPage,
    ServiceReading,
    ShownLine,
    SystemReading,
)

USUAL_REMEDY = {"db": "kill-query", "cache": "flush-cache", "queue": "scale"}
"""Kind of service -> what usually helps there; elsewhere a rollback if a build was seen, else a restart."""
OBJECTS: Mapping[str, re.Pattern[str]] = {
    "rollback": re.compile(r"\b\d+\.\d+\.\d+\b"), "kill-query": re.compile(r"\bs-\d+\b"),
    "flush-cache": re.compile(r"\b[a-z]+/\d\d\b"),
}  # fmt: skip
"""How builds, sessions and prefixes look."""
FAULT_WORDS = tuple(
    """
    timeout exhausted deadlock lock crash crashed died killed memory heap leak full refused expired denied failed error
    overload saturated saturation busy slow stale corrupt invalid retry unauthorized attack password token partner
""".split()
)
CALM = 0.01
"""Share of users' requests that comes to harm up to which the routine takes users to be well."""
CLOSING_TURNS = 2
"""Turns that the closing takes: the remedy, and the end of the incident."""
NOT_INFO, ERRORS = "-info", "level:error"
_SIDE = 3
"""Minutes at either end of a count that are compared."""


class Question(NamedTuple):
    """A search."""

    service: str
    words: str


@dataclass(slots=True)
class LogHistory:
    """Everything a script was shown so far."""

    catalogue: Catalogue
    budget: int = 0
    page: tuple[ShownLine, ...] = ()
    """Lines of all pages, the oldest first."""
    lines: list[ShownLine] = field(default_factory=list)
    """Those, and what searches found."""
    counts: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Matches a minute of the last search of each service."""
    access: Access | None = None

    def add_observation(self, page: LogsPage) -> None:
        """Remember a page."""
        self.budget, self.page = page.budget, (*self.page, *page.lines)
        self.lines += page.lines
        reply = page.reply
        if isinstance(reply, SystemReading):
            self.counts |= {row.service: row.per_minute for row in reply.counts}
            self.lines += reply.newest
        elif isinstance(reply, ServiceReading):
            self.access = reply.access or self.access
            if reply.matches is not None:
                self.counts[reply.matches.service] = reply.matches.per_minute
                self.lines += [ShownLine(reply.matches.service, line) for line in reply.matches.newest]

    @property
    def gateway(self) -> str:
        """Where users arrive."""
        return self.catalogue.names[0]


class BaselineStrategy(NamedTuple):
    """One way of being naive."""

    questions: Callable[[LogHistory], Sequence[Question]]
    """What it asks, one a turn; what was asked stays in its place as more is seen."""
    guess_root: Callable[[LogHistory], str | None]
    """Whom it takes for the root; None if it takes all for a false alarm."""


class LogsBaseline:
    """Asks what its habit wants, believes what the habit makes of it, closes."""

    def __init__(self, strategy: BaselineStrategy, brief: Brief, rng: Random) -> None:
        self.strategy, self.history = strategy, LogHistory(brief.facts)
        self.asked = 0
        self.closing: list[ToolCall] | None = None

    def act(self, observation: Observation) -> ToolCall:
        """The next question, or the next step of the closing."""
        if isinstance(observation, LogsPage) and self.closing is None:
            self.history.add_observation(observation)
            questions = self.strategy.questions(self.history)
            if self.asked < len(questions):
                self.asked += 1
                service, words = questions[self.asked - 1]
                return ToolCall("request_more_logs", {"service": service, "words": words})
        if self.closing is None:
            self.closing = close(self.history, self.strategy.guess_root(self.history))
        return self.closing.pop(0) if self.closing else ToolCall("resolve")


def close(history: LogHistory, root: str | None) -> list[ToolCall]:
    """What every script does once it has made up its mind."""
    if root is None:
        return [ToolCall("ignore")]
    return [
        ToolCall("classify_severity", {"severity": severity(history)}),
        ToolCall("identify_root_cause", {"service": root}),
        ToolCall("escalate", {"team": history.catalogue.entry(root).team}),
        usual_remedy(history, root),
        ToolCall("resolve"),
    ]


def severity(history: LogHistory) -> str:
    """By the rule if the gateway's logs were read, else the middle."""
    return RULE.severity(history.access.lost_share) if history.access is not None else "P2"


def usual_remedy(history: LogHistory, root: str) -> ToolCall:
    """What usually helps at that kind of service, with the object that was seen last; a restart if none was."""
    kind = history.catalogue.entry(root).kind
    action = USUAL_REMEDY.get(kind, "rollback")
    if action == "scale":
        return ToolCall("remediate", {"action": action, "service": root})
    found = objects_seen(history, root, action)
    if not found:
        return ToolCall("remediate", {"action": "restart", "service": root})
    return ToolCall("remediate", {"action": action, "service": root, "object": found[-1]})


def objects_seen(history: LogHistory, service: str, action: str) -> list[str]:
    """The builds, sessions or prefixes that lines of a service name, in the order in which they were seen."""
    lines = [shown.line.message for shown in history.lines if shown.service == service]
    return [name for message in lines for name in OBJECTS[action].findall(message)]


# -- what to ask ----------------------------------------------------------------------------------------


def nothing(history: LogHistory) -> Sequence[Question]:
    """The page will do."""
    return ()


def overview(history: LogHistory) -> Sequence[Question]:
    """How many errors each service writes."""
    return (Question(ALL, ERRORS),)


def all_services(history: LogHistory) -> Sequence[Question]:
    """Every service but the gateway, as far as the turns reach."""
    names = history.catalogue.names[1:][: max(0, history.budget - CLOSING_TURNS)]
    return [Question(name, NOT_INFO) for name in names]


def down_the_complaints(history: LogHistory) -> Sequence[Question]:
    """How many errors each service writes, how users fare, and then whoever is complained of most."""
    asked = [Question(ALL, ERRORS), *[Question(name, NOT_INFO) for name in chain(history)]]
    return asked[: max(0, history.budget - CLOSING_TURNS - 1)]


# -- whom to believe --------------------------------------------------------------------------------------


def loudest(history: LogHistory) -> str | None:
    """The service with most ERROR lines now."""
    return _most({name: sum(counts[-_SIDE:]) for name, counts in history.counts.items()}) or history.gateway


def loudest_delta(history: LogHistory) -> str | None:
    """The service whose ERROR lines rose most."""
    return _most(_rises(history)) or history.gateway


def first_error(history: LogHistory) -> str | None:
    """The writer of the first ERROR line of the page, else of the first WARN."""
    writers = [shown.service for level in ("ERROR", "WARN") for shown in history.page if shown.line.level == level]
    return next(iter(writers), history.gateway)


def keyword(history: LogHistory) -> str | None:
    """The service that writes most lines with words of a fault in them."""
    return _most(Counter(s.service for s in history.page if _has_fault_word(s.line.message))) or first_error(history)


def _has_fault_word(message: str) -> bool:
    return bool(set(re.findall(r"[a-z]+", message.lower())).intersection(FAULT_WORDS))


def blame(history: LogHistory) -> str | None:
    """The service that most lines above INFO speak of."""
    return _most(mentions(history, history.page)) or first_error(history)


def sweep(history: LogHistory) -> str | None:
    """The service whose lines above INFO rose most, in proportion."""
    rises = {name: (sum(c[-_SIDE:]) + 1) / (sum(c[:_SIDE]) + 1) for name, c in history.counts.items()}
    return _most(rises) or history.gateway


def routine(history: LogHistory) -> str | None:
    """A careful person's routine: none if users are well, else the last of those who are complained of."""
    if history.access is not None and history.access.lost_share < CALM:
        return None
    return chain(history)[-1]


def chain(history: LogHistory) -> list[str]:
    """The gateway, whom it complains of most, whom that complains of most, and so on."""
    found = [history.gateway]
    while True:
        lines = [shown for shown in history.lines if shown.service == found[-1]]
        named = mentions(history, lines)
        called = {name: n for name, n in named.items() if name in history.catalogue.entry(found[-1]).calls and n > 1}
        worst = _most(called)
        if worst is None or worst in found:
            return found
        found.append(worst)


def mentions(history: LogHistory, lines: Sequence[ShownLine]) -> Counter[str]:
    """How many lines above INFO name each service, other than their writer."""
    found = Counter[str]()
    for shown in lines:
        if shown.line.level != "INFO":
            words = set(re.findall(r"[\w-]+", shown.line.message))
            found.update([name for name in history.catalogue.names if name in words and name != shown.service])
    return found


def _most(figures: Mapping[str, float]) -> str | None:
    """The name with the largest figure, the first of the alphabet among equals."""
    return max(sorted(figures), key=lambda name: figures[name]) if figures else None


def _rises(history: LogHistory) -> dict[str, float]:
    return {name: sum(counts[-_SIDE:]) - sum(counts[:_SIDE]) for name, counts in history.counts.items()}


STRATEGIES = {
    "loudest": BaselineStrategy(overview, loudest),
    "loudest_delta": BaselineStrategy(overview, loudest_delta),
    "first_error": BaselineStrategy(nothing, first_error),
    "keyword": BaselineStrategy(nothing, keyword),
    "blame": BaselineStrategy(nothing, blame),
    "sweep": BaselineStrategy(all_services, sweep),
    "heuristic": BaselineStrategy(down_the_complaints, routine),
}
"""`sweep` asks every service it can afford; `heuristic` is the routine that trained models have to beat."""


NAIVE: dict[str, PolicyFactory] = {name: partial(LogsBaseline, strategy) for name, strategy in STRATEGIES.items()}
