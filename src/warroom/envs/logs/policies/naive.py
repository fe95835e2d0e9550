"""Plausible scripts that weigh no evidence: what a trained policy has to beat.

They differ in what they ask for and in whom they believe. All close alike: severity, root, its owner, the usual remedy
of its kind, done.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from random import Random
from typing import NamedTuple

from warroom.core.scenario import PolicyMaker
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs.logs.policies.words import CLIENT, class_of
from warroom.envs.logs.views import ALL, RULE, Catalogue, Level, LogLine, LogPage, Overview, ServiceLogs

USUAL_REMEDY = {"db": "kill-query", "queue": "scale"}
"""Kind of service -> what usually helps there; a restart everywhere else."""
CLOSING_TURNS = 2
"""Turns that the closing takes: the remedy, and the end of the incident."""
CALM_FAILING, CALM_SLOWER = 0.02, 1.15
"""Share of failed user requests and factor on their median up to which the routine takes users to be well."""
BLAMED = 2
"""Accusations in the page's lines from which the routine believes them, where no logs tell of failed calls."""


@dataclass(slots=True)
class Seen:
    """Everything a script was shown so far."""

    catalogue: Catalogue
    budget: int = 0
    lines: list[LogLine] = field(default_factory=list)
    """Lines of all pages, the oldest first."""
    levels: tuple[Level, ...] = ()
    replies: dict[str, ServiceLogs] = field(default_factory=dict)

    def take(self, page: LogPage) -> None:
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


class Habit(NamedTuple):
    """One way of being naive."""

    asks: Callable[[Seen], Sequence[str]]
    """Whose logs it asks for, one a turn; what was asked for stays in its place as more is seen."""
    believes: Callable[[Seen], str | None]
    """Whom it takes for the root; None if it takes all for a false alarm."""


class Naive:
    """Asks for what its habit wants, believes what the habit makes of it, closes."""

    def __init__(self, habit: Habit, brief: Brief) -> None:
        self.habit, self.seen = habit, Seen(brief.facts)
        self.asked = 0
        self.closing: list[ToolCall] | None = None

    def act(self, observation: Observation) -> ToolCall:
        """The next question, or the next step of the closing."""
        if isinstance(observation, LogPage):
            self.seen.take(observation)
            asks = self.habit.asks(self.seen)
            if self.asked < len(asks):
                self.asked += 1
                return ToolCall("request_more_logs", {"service": asks[self.asked - 1]})
        if self.closing is None:
            self.closing = close(self.seen, self.habit.believes(self.seen))
        return self.closing.pop(0) if self.closing else ToolCall("resolve")


def close(seen: Seen, root: str | None) -> list[ToolCall]:
    """What every script does once it has made up its mind."""
    if root is None:
        return [ToolCall("ignore")]
    entry = seen.catalogue.entry(root)
    return [
        ToolCall("classify_severity", {"severity": severity(seen)}),
        ToolCall("identify_root_cause", {"service": root}),
        ToolCall("escalate", {"team": entry.team}),
        ToolCall("remediate", {"action": USUAL_REMEDY.get(entry.kind, "restart"), "service": root}),
        ToolCall("resolve"),
    ]


def severity(seen: Seen) -> str:
    """By the rule if the gateway's logs were read, else the middle."""
    figures = user_figures(seen)
    return RULE.severity(*figures) if figures is not None else "P2"


def user_figures(seen: Seen) -> tuple[float, float] | None:
    """Share of user requests that fail, and factor on their median; None if the gateway's logs were not read."""
    logs = seen.replies.get(seen.gateway)
    if logs is None or logs.handled is None or logs.failed is None or logs.median is None:
        return None
    return logs.failed.now / max(1, logs.handled.now), logs.median.now / max(1e-9, logs.median.before)


# -- what to ask for ------------------------------------------------------------------------------------


def nothing(seen: Seen) -> Sequence[str]:
    """The page will do."""
    return ()


def overview(seen: Seen) -> Sequence[str]:
    """How much each service writes."""
    return (ALL,)


def everyone(seen: Seen) -> Sequence[str]:
    """Every service but the gateway, as far as the turns reach."""
    return seen.catalogue.names[1:][: max(0, seen.budget - CLOSING_TURNS)]


def complainer_too(seen: Seen) -> Sequence[str]:
    """How much each service writes, what users feel, and the logs of whoever complains most."""
    complainer = _most(_rises(seen))
    known = (ALL, seen.gateway)
    return known if complainer in (None, seen.gateway) else (*known, str(complainer))


# -- whom to believe --------------------------------------------------------------------------------------


def loudest(seen: Seen) -> str | None:
    """The service with the most ERROR lines now."""
    return _most({level.service: level.errors.now for level in seen.levels if level.errors}) or seen.gateway


def loudest_delta(seen: Seen) -> str | None:
    """The service whose ERROR lines rose most."""
    return _most(_rises(seen)) or seen.gateway


def first_error(seen: Seen) -> str | None:
    """The writer of the first ERROR line of the page, else of the first WARN."""
    writers = {level: [line.service for line in seen.lines if line.level == level] for level in ("ERROR", "WARN")}
    return next(iter(writers["ERROR"] + writers["WARN"]), seen.gateway)


def keyword(seen: Seen) -> str | None:
    """The service that writes most lines with words of a fault in them."""
    fault_words = Counter(line.service for line in seen.lines if class_of(line.text) not in (None, CLIENT))
    return _most(fault_words) or first_error(seen)


def blame(seen: Seen) -> str | None:
    """The service that most lines speak of."""
    return _most(_accusations(seen)) or first_error(seen)


def sweep(seen: Seen) -> str | None:
    """The service whose own duration or volume changed most."""
    return _most({name: _change(logs) for name, logs in seen.replies.items()}) or seen.gateway


def routine(seen: Seen) -> str | None:
    """A careful person's routine: nobody if users are well, else whose calls fail most, who is accused, who is loud."""
    figures = user_figures(seen)
    if figures is not None and figures[0] < CALM_FAILING and figures[1] < CALM_SLOWER:
        return None
    failed = Counter[str]()
    for logs in seen.replies.values():
        failed.update({row.callee: int(row.failed.now - row.failed.before) for row in logs.calls})
    accused = {name: count for name, count in _accusations(seen).items() if count >= BLAMED}
    return _most(+failed) or _most(accused) or loudest_delta(seen)


def _most(figures: Mapping[str, float]) -> str | None:
    """The name with the largest figure, the first of the alphabet among equals."""
    return max(sorted(figures), key=lambda name: figures[name]) if figures else None


def _rises(seen: Seen) -> dict[str, float]:
    return {level.service: level.errors.now - level.errors.before for level in seen.levels if level.errors}


def _accusations(seen: Seen) -> Counter[str]:
    return Counter(line.callee for line in seen.lines if line.callee and line.level != "INFO")


def _change(logs: ServiceLogs) -> float:
    pairs = [pair for pair in (logs.median, logs.level.lines) if pair is not None]
    return max([abs(log(max(1, pair.now) / max(1, pair.before))) for pair in pairs], default=0.0)


HABITS = {
    "loudest": Habit(overview, loudest),
    "loudest_delta": Habit(overview, loudest_delta),
    "first_error": Habit(nothing, first_error),
    "keyword": Habit(nothing, keyword),
    "blame": Habit(nothing, blame),
    "sweep": Habit(everyone, sweep),
    "heuristic": Habit(complainer_too, routine),
}
"""`sweep` asks every service it can afford; `heuristic` is the routine that trained models have to beat."""


def _maker(habit: Habit) -> PolicyMaker:
    def make(brief: Brief, rng: Random) -> Naive:
        return Naive(habit, brief)

    return make


NAIVE: dict[str, PolicyMaker] = {name: _maker(habit) for name, habit in HABITS.items()}
