"""Plausible scripts that weigh no evidence: what a trained policy has to beat.

They differ in what they ask for and in whom they believe. All close alike: severity, root, its owner, the usual remedy
of its kind, done.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import log
from random import Random
from typing import NamedTuple

from warroom.core.policy import PolicyFactory
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs.logs.policies.keywords import CLIENT, class_of
from warroom.envs.logs.views import ALL, RULE, Catalogue, Level, LogEntry, LogsObservation, Overview, ServiceLogs

USUAL_REMEDY = {"db": "kill-query", "queue": "scale"}
"""Kind of service -> what usually helps there; a restart everywhere else."""
CLOSING_TURNS = 2
"""Turns that the closing takes: the remedy, and the end of the incident."""
CALM_FAILING, CALM_SLOWER = 0.02, 1.15
"""Share of failed user requests and factor on their median up to which the routine takes users to be well."""
BLAMED = 2
"""Accusations in the page's lines from which the routine believes them, where no logs tell of failed calls."""


@dataclass(slots=True)
class LogHistory:
    """Everything a script was shown so far."""

    catalogue: Catalogue
    budget: int = 0
    lines: list[LogEntry] = field(default_factory=list)
    """Lines of all pages, the oldest first."""
    levels: tuple[Level, ...] = ()
    replies: dict[str, ServiceLogs] = field(default_factory=dict)

    def add_observation(self, page: LogsObservation) -> None:
        """Remember a page."""
        self.budget = page.budget
        self.lines += page.lines
        if isinstance(page.reply, Overview):
            self.levels = page.reply.levels
        elif page.reply is not None:
            self.replies[page.reply.service] = page.reply

    @property
    def gateway(self) -> str:
        """Where users arrive."""
        return self.catalogue.names[0]


class BaselineStrategy(NamedTuple):
    """One way of being naive."""

    queries: Callable[[LogHistory], Sequence[str]]
    """Whose logs it asks for, one a turn; what was asked for stays in its place as more is seen."""
    guess_root: Callable[[LogHistory], str | None]
    """Whom it takes for the root; None if it takes all for a false alarm."""


class LogsBaseline:
    """Asks for what its habit wants, believes what the habit makes of it, closes."""

    def __init__(self, strategy: BaselineStrategy, brief: Brief, rng: Random) -> None:
        self.strategy, self.history = strategy, LogHistory(brief.facts)
        self.asked = 0
        self.closing: list[ToolCall] | None = None

    def act(self, observation: Observation) -> ToolCall:
        """The next question, or the next step of the closing."""
        if isinstance(observation, LogsObservation):
            self.history.add_observation(observation)
            queries = self.strategy.queries(self.history)
            if self.asked < len(queries):
                self.asked += 1
                return ToolCall("request_more_logs", {"service": queries[self.asked - 1]})
        if self.closing is None:
            self.closing = close(self.history, self.strategy.guess_root(self.history))
        return self.closing.pop(0) if self.closing else ToolCall("resolve")


def close(history: LogHistory, root: str | None) -> list[ToolCall]:
    """What every script does once it has made up its mind."""
    if root is None:
        return [ToolCall("ignore")]
    entry = history.catalogue.entry(root)
    return [
        ToolCall("classify_severity", {"severity": severity(history)}),
        ToolCall("identify_root_cause", {"service": root}),
        ToolCall("escalate", {"team": entry.team}),
        ToolCall("remediate", {"action": USUAL_REMEDY.get(entry.kind, "restart"), "service": root}),
        ToolCall("resolve"),
    ]


def severity(history: LogHistory) -> str:
    """By the rule if the gateway's logs were read, else the middle."""
    figures = user_figures(history)
    return RULE.severity(*figures) if figures is not None else "P2"


def user_figures(history: LogHistory) -> tuple[float, float] | None:
    """Share of user requests that fail, and factor on their median; None if the gateway's logs were not read."""
    logs = history.replies.get(history.gateway)
    if logs is None or logs.handled is None or logs.failed is None or logs.median is None:
        return None
    return logs.failed.now / max(1, logs.handled.now), logs.median.now / max(1e-9, logs.median.before)


# -- what to ask for ------------------------------------------------------------------------------------


def no_queries(history: LogHistory) -> Sequence[str]:
    """The page will do."""
    return ()


def overview(history: LogHistory) -> Sequence[str]:
    """How much each service writes."""
    return (ALL,)


def all_services(history: LogHistory) -> Sequence[str]:
    """Every service but the gateway, as far as the turns reach."""
    return history.catalogue.names[1:][: max(0, history.budget - CLOSING_TURNS)]


def overview_and_loudest(history: LogHistory) -> Sequence[str]:
    """How much each service writes, how users fare, and the logs of the service that complains most."""
    complainer = _most(_rises(history))
    known = (ALL, history.gateway)
    return known if complainer in (None, history.gateway) else (*known, str(complainer))


# -- whom to believe --------------------------------------------------------------------------------------


def loudest(history: LogHistory) -> str | None:
    """The service with the most ERROR lines now."""
    return _most({level.service: level.errors.now for level in history.levels if level.errors}) or history.gateway


def loudest_delta(history: LogHistory) -> str | None:
    """The service whose ERROR lines rose most."""
    return _most(_rises(history)) or history.gateway


def first_error(history: LogHistory) -> str | None:
    """The writer of the first ERROR line of the page, else of the first WARN."""
    writers = {level: [line.service for line in history.lines if line.level == level] for level in ("ERROR", "WARN")}
    return next(iter(writers["ERROR"] + writers["WARN"]), history.gateway)


def keyword(history: LogHistory) -> str | None:
    """The service that writes most lines with words of a fault in them."""
    fault_words = Counter(line.service for line in history.lines if class_of(line.text) not in (None, CLIENT))
    return _most(fault_words) or first_error(history)


def blame(history: LogHistory) -> str | None:
    """The service that most lines speak of."""
    return _most(_accusations(history)) or first_error(history)


def sweep(history: LogHistory) -> str | None:
    """The service whose own duration or volume changed most."""
    return _most({name: _change(logs) for name, logs in history.replies.items()}) or history.gateway


def routine(history: LogHistory) -> str | None:
    """A careful person's routine: none if users are well, else the service whose calls fail most, or the loudest."""
    figures = user_figures(history)
    if figures is not None and figures[0] < CALM_FAILING and figures[1] < CALM_SLOWER:
        return None
    failed = Counter[str]()
    for logs in history.replies.values():
        failed.update({row.callee: int(row.failed.now - row.failed.before) for row in logs.calls})
    accused = {name: count for name, count in _accusations(history).items() if count >= BLAMED}
    return _most(+failed) or _most(accused) or loudest_delta(history)


def _most(figures: Mapping[str, float]) -> str | None:
    """The name with the largest figure, the first of the alphabet among equals."""
    return max(sorted(figures), key=lambda name: figures[name]) if figures else None


def _rises(history: LogHistory) -> dict[str, float]:
    return {level.service: level.errors.now - level.errors.before for level in history.levels if level.errors}


def _accusations(history: LogHistory) -> Counter[str]:
    return Counter(line.callee for line in history.lines if line.callee and line.level != "INFO")


def _change(logs: ServiceLogs) -> float:
    pairs = [pair for pair in (logs.median, logs.level.lines) if pair is not None]
    return max([abs(log(max(1, pair.now) / max(1, pair.before))) for pair in pairs], default=0.0)


STRATEGIES = {
    "loudest": BaselineStrategy(overview, loudest),
    "loudest_delta": BaselineStrategy(overview, loudest_delta),
    "first_error": BaselineStrategy(no_queries, first_error),
    "keyword": BaselineStrategy(no_queries, keyword),
    "blame": BaselineStrategy(no_queries, blame),
    "sweep": BaselineStrategy(all_services, sweep),
    "heuristic": BaselineStrategy(overview_and_loudest, routine),
}
"""`sweep` asks every service it can afford; `heuristic` is the routine that trained models have to beat."""


NAIVE: dict[str, PolicyFactory] = {name: partial(LogsBaseline, strategy) for name, strategy in STRATEGIES.items()}
