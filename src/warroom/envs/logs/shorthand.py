"""The pages of log triage in a few dozen words, for models too small to read prose.

Services become numbered slots, dealt anew in each incident; counts and durations become grades of change; lines become
(service, level, class of words). Facts that belong together stand together: beside a callee its kind and its owner,
beside what a service says of itself what its callers say of it. It is a summary of what the agent was shown: it holds
nothing that the texts lack, and leaves out ordinary lines, exact numbers, what was always so, and gauges of recordings.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, log, sqrt
from typing import Any

from warroom.core.language import Lexicon
from warroom.core.rng import stream
from warroom.core.types import Brief, Notice, Observation, ToolCall
from warroom.envs.logs.policies.words import CLIENT, UNFAMILIAR, class_of, is_complaint, is_job
from warroom.envs.logs.signatures import CLASSES
from warroom.envs.logs.views import (
    ALL,
    REMEDIES,
    SEVERITIES,
    TEAMS,
    CallLogs,
    Catalogue,
    Level,
    LogLine,
    LogPage,
    Overview,
    Pair,
    Pattern,
    ServiceLogs,
)
from warroom.sim.blueprint import KINDS

SLOTS = 48
"""Services that can be told apart; a system with more does not fit."""
SLOT = tuple(f"s{i}" for i in range(SLOTS))
Grades = tuple[tuple[float, str], ...]
"""Lower bounds, each with its word; below the first nothing is said."""
FAILING: Grades = (
    (1, "e1"), (3, "e3"), (5, "e5"), (7, "e7"), (10, "e10"), (14, "e14"), (20, "e20"), (28, "e28"), (35, "e35"),
    (60, "e60"),
)  # fmt: skip
"""Per cent of the requests that fail beyond the usual; close where the rule of severity decides."""
SLOWER: Grades = (
    (0.0, "p-"), (0.8, ""), (1.15, "p1.15"), (1.3, "p1.3"), (1.5, "p1.5"), (1.8, "p1.8"), (2.2, "p2"), (3, "p3"),
    (4.3, "p4"), (6, "p6"),
)  # fmt: skip
"""Factor on a median."""
STRANGERS: Grades = ((1.1, "strangers"), (1.35, "flood"))
"""Factor by which a service handles more than its callers made."""
DIN: Grades = ((2, "din2"), (5, "din5"), (10, "din10"), (20, "din20"))
"""Standard errors by which lines at WARN and ERROR have risen in the whole system."""
RISE: Grades = ((1.4, "up1"), (2.2, "up2"), (4, "up3"))
"""Factor on a count."""
HOW_MANY: Grades = ((1, "few"), (3, "some"), (8, "many"))
"""Lines of a class."""
MANY_FAILURES = 3
"""Failures beyond the usual that are no chance: one or two happen in any window."""
MEDIAN_SCATTER = 0.7
"""Standard error of the logarithm of a median of one duration; that of n is smaller by the root of n."""
SOON = 3
"""Turns left from which the end is said to be near."""
MINUTES, TURNS = range(-12, 32), range(1, 33)
BLAMES = "blames"
"""What words are that complain of another service."""
DONE = re.compile(r"Done: (\S+) (\S+)\.")
OTHERS = (
    *("needs", "ok", "dark", "late", "prompt", "hushed", "from", "to", "own", "users", "was", "new", BLAMES, "build"),
    *("job", "behind", "ERROR", "WARN", "done", "refused", "over", "soon", "nothing"),
)
TOOLS = (
    *("classify_severity", "identify_root_cause", "escalate"),
    *("remediate", "request_more_logs", "resolve", "ignore"),
)
ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "classify_severity": ("severity",), "identify_root_cause": ("service",), "escalate": ("team",),
    "remediate": ("service", "action"), "request_more_logs": ("service",),
}  # fmt: skip
"""What stands on the line of each tool, in order."""


def lexicon() -> Lexicon:
    """Every word of the shorthand."""
    words = [
        *TOOLS, *SLOT, ALL, *SEVERITIES, *TEAMS, *REMEDIES, *KINDS, *CLASSES, CLIENT, UNFAMILIAR,
        *[word for table in (FAILING, SLOWER, STRANGERS, DIN, RISE, HOW_MANY) for _, word in table if word],
        *[f"@{minute}" for minute in MINUTES], *[f"T{turn}" for turn in TURNS], *OTHERS, "oncall",
    ]  # fmt: skip
    return Lexicon(tuple(dict.fromkeys(words)), TOOLS, SLOT)


class Shorthand:
    """One incident's shorthand for the one on call."""

    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.catalogue: Catalogue = brief.facts
        names = self.catalogue.names
        if len(names) > SLOTS:
            raise ValueError(f"the shorthand tells {SLOTS} services apart, and this system has {len(names)}")
        dealt = stream(0, "shorthand", self.catalogue.render()).sample(SLOT, len(names))
        self.slot = dict(zip(names, dealt, strict=True))
        self.name = {slot: name for name, slot in self.slot.items()}
        self.named = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])")
        self.read: dict[str, ServiceLogs] = {}
        """The latest logs of each service that were shown."""
        self.done: list[tuple[int, list[str]]] = []
        """(turn, service and remedy) of what was done."""

    # -- what the model reads -------------------------------------------------------------------------

    def opening(self) -> str:
        """The seat, and the catalogue: who is of what kind, belongs to whom and needs whom."""
        out = [self.brief.seat]
        for entry in self.catalogue.entries:
            needs = [self.slot[callee] for callee in entry.calls]
            out += [*self._entry(entry.name), *(["needs", *needs] if needs else [])]
        return " ".join(out)

    def show(self, observation: Observation) -> str:
        """The observation in shorthand."""
        if isinstance(observation, LogPage):
            return " ".join(self._page(observation))
        assert isinstance(observation, Notice)
        return " ".join(_notice(observation.text))

    def _page(self, page: LogPage) -> list[str]:
        out = [f"T{page.turn}"] if page.turn in TURNS else []
        out += ["soon"] if page.budget - page.turn < SOON else []
        out += _din(page.volume)
        out += self._lines(page.lines)
        out += self._answer(page) + self._deeds(page)
        if isinstance(page.reply, Overview):
            return [*out, *self._users(), *self._overview(page.reply)]
        if page.reply is None:
            return [*out, *self._users()]
        gateway = page.reply.service == self.catalogue.names[0]
        return [*out, *([] if gateway else self._users()), *self._logs(page.reply)]

    def _answer(self, page: LogPage) -> list[str]:
        """What the last act came to, if the page says so."""
        if page.reply is not None:
            return []
        done = DONE.fullmatch(page.answer)
        if done is None:
            return _notice(page.answer)
        self.done.append((page.turn - 1, [self.slot[done[2]], done[1]]))
        return []

    def _deeds(self, page: LogPage) -> list[str]:
        """What was done, and how many minutes ago."""
        return [word for turn, deed in self.done for word in ("done", *deed, f"@{max(turn - page.turn, MINUTES[0])}")]

    def _lines(self, lines: Iterable[LogLine]) -> list[str]:
        """The lines at WARN or above that say something: writer, level, and class of words or who is blamed."""
        said = [(line.service, line.level, *self._said(line)) for line in lines if line.level in ("WARN", "ERROR")]
        rows = [(self.slot[name], level, *words) for name, level, *words in dict.fromkeys(said) if words]
        return [word for row in rows for word in row]

    def _said(self, line: LogLine) -> list[str]:
        """The class of a line's words, or whom it blames."""
        name = self._class_of(line.text)
        if name == BLAMES:
            return [name, *([self.slot[line.callee]] if line.callee else [])]
        return [name] if name != UNFAMILIAR else []

    def _class_of(self, text: str) -> str:
        """The class of words; names of services are no words."""
        words = self.named.sub("", text)
        return class_of(words) or (BLAMES if is_complaint(words) else UNFAMILIAR)

    # -- replies --------------------------------------------------------------------------------------------

    def _entry(self, service: str) -> list[str]:
        """A service with its kind and its owner."""
        entry = self.catalogue.entry(service)
        return [self.slot[service], entry.kind, entry.team]

    def _users(self) -> list[str]:
        """How users fared when they were last asked after; of no use once something was done."""
        logs = self.read.get(self.catalogue.names[0])
        return ["users", *(_own(logs) or ["ok"])] if logs is not None and not self.done else []

    def _overview(self, overview: Overview) -> list[str]:
        out = []
        for level in overview.levels:
            told = ["dark"] if level.errors is None else _risen("ERROR", level.errors)
            out += [self.slot[level.service], *told] if told else []
        return ["all", *(out or ["nothing"])]

    def _logs(self, logs: ServiceLogs) -> list[str]:
        """One service: what its callers say of it, what it says of itself, of its callees, and in what words."""
        service, before = logs.service, self.read.get(logs.service)
        self.read[service] = logs
        out = [*self._entry(service), *(["behind"] if logs.behind else [])]
        if logs.level.lines is None:
            return [*out, "dark"]
        out += self._above(service)
        own, was = _own(logs), _own(before) if before is not None else []
        gateway = service == self.catalogue.names[0]
        out += ["users" if gateway else "own", *(own or ["ok"]), *(["was", *(was or ["ok"])] if before else [])]
        out += self._hushed(logs) + self._strangers(logs)
        out += self._below(logs, before)
        out += [word for pattern in logs.patterns for word in self._pattern(pattern)]
        return out + [word for start in _recent(logs.started) for word in start]

    def _callers(self, service: str) -> Iterator[CallLogs]:
        """What the latest logs of its callers say of calls of a service."""
        for caller in self.catalogue.callers(service):
            if caller in self.read:
                yield from [row for row in self.read[caller].calls if row.callee == service]

    def _above(self, service: str) -> list[str]:
        """What callers say of a service, the one with most calls speaking for all."""
        rows = sorted(self._callers(service), key=lambda row: row.made.now)
        return ["from", *(_call(rows[-1]) or ["ok"])] if rows else []

    def _hushed(self, logs: ServiceLogs) -> list[str]:
        """Whether a service owns up to less than half of what its callers see fail at once."""
        rows = list(self._callers(logs.service))
        if not rows or logs.handled is None or logs.failed is None:
            return []
        seen = max(failing(row.failed, row.made) * (1 - row.late / 100) for row in rows)
        return ["hushed"] if seen >= FAILING[1][0] and failing(logs.failed, logs.handled) < seen / 2 else []

    def _strangers(self, logs: ServiceLogs) -> list[str]:
        """Whether a service handles more than its callers, or all users, ask of it."""
        rows = list(self._callers(logs.service))
        users = self.read.get(self.catalogue.names[0])
        asked = users.handled if users is not None and users is not logs else None
        if rows and len(rows) == len(self.catalogue.callers(logs.service)):
            asked = Pair(sum(row.made.before for row in rows), sum(row.made.now for row in rows))
        if asked is None or logs.handled is None or min(*asked, *logs.handled) < 1:
            return []
        factor = (logs.handled.now / logs.handled.before) / (asked.now / asked.before)
        return _words(STRANGERS, _held(factor, sqrt(sum(1 / count for count in (*asked, *logs.handled)))))

    def _below(self, logs: ServiceLogs, before: ServiceLogs | None) -> list[str]:
        """The callees, the worst first: those in trouble with kind and owner, and what was said of them before."""
        was = {row.callee: _call(row) or ["ok"] for row in before.calls} if before is not None else {}
        out: list[str] = []
        for row in sorted(logs.calls, key=lambda row: -_badness(row)):
            told, earlier = _call(row), was.get(row.callee, ["ok"])
            known = self._entry(row.callee) if told or earlier != ["ok"] else [self.slot[row.callee]]
            out += ["to", *known, *(told or ["ok"]), *(["was", *earlier] if earlier != ["ok"] else [])]
        return out

    def _pattern(self, pattern: Pattern) -> list[str]:
        """Words that are new, by class; those about other services are told by the calls."""
        name = self._class_of(pattern.text)
        if name == BLAMES or pattern.seen.before or not pattern.seen.now:
            return []
        return ["new", name, *_words(HOW_MANY, pattern.seen.now)]

    # -- what the model says --------------------------------------------------------------------------

    def understand(self, name: str, arguments: Mapping[str, Any]) -> ToolCall:
        """The call whose arguments stand on one line, in order."""
        words = str(arguments.get("line", "")).split()
        expected = ARGUMENTS.get(name, ())
        meant = {key: self.name.get(word, word) for key, word in zip(expected, words, strict=False)}
        return ToolCall(name, {key: meant.get(key, "") for key in expected})

    def phrase(self, call: ToolCall) -> tuple[str, dict[str, Any]]:
        """The call on one line."""
        values = [str(call.arguments.get(key, "")) for key in ARGUMENTS.get(call.name, ())]
        return call.name, {"line": " ".join(self.slot.get(value, value) for value in values)}

    def schemas(self) -> tuple[dict[str, Any], ...]:
        """Every tool takes one line."""
        line = {"type": "string", "description": "the arguments in order"}
        parameters = {"type": "object", "properties": {"line": line}, "required": ["line"]}
        return tuple({**schema, "parameters": parameters} for schema in self.brief.tools)


def _notice(text: str) -> list[str]:
    if "Refused" in text:
        return ["refused"]
    return ["over"] if "is over" in text or "is closed" in text else []


def _words(table: Grades, value: float) -> list[str]:
    """The word of the highest bound that `value` reaches, if it reaches one that has a word."""
    word = next((word for bound, word in reversed(table) if value >= bound), "")
    return [word] if word else []


def _held(factor: float, error: float) -> float:
    """A factor, nearer to 1 by one standard error of its logarithm: chance is not told."""
    change = log(factor)
    return exp(max(0.0, abs(change) - error) * (1 if change > 0 else -1))


def failing(failed: Pair, made: Pair) -> float:
    """Per cent of the requests now that fail beyond the usual; 0 where chance would do."""
    usual = failed.before / made.before if made.before else 0.0
    if made.now < 1 or failed.now - usual * made.now < MANY_FAILURES:
        return 0.0
    return 100 * (failed.now / made.now - usual)


def slower(median: Pair | None, count: Pair) -> float:
    """Factor on a median, less what chance would do."""
    if median is None or min(*median, *count) <= 0:
        return 1.0
    return _held(median.now / median.before, MEDIAN_SCATTER * sqrt(1 / count.before + 1 / count.now))


def _badness(row: CallLogs) -> float:
    """How bad the calls of a service are: 1 where the rule of severity begins to mind."""
    return max(failing(row.failed, row.made) / 5, log(slower(row.median, row.made)) / log(1.5))


def _call(row: CallLogs) -> list[str]:
    """What fails, whether late or promptly, and how much slower it got; nothing where all is well."""
    fails = _words(FAILING, failing(row.failed, row.made))
    how = [word for word, share in (("late", row.late), ("prompt", 100 - row.late)) if share > 33] if fails else []
    return [*fails, *how, *_words(SLOWER, slower(row.median, row.made))]


def _own(logs: ServiceLogs) -> list[str]:
    """The same of a service's own requests."""
    if logs.handled is None:
        return []
    fails = _words(FAILING, failing(logs.failed, logs.handled)) if logs.failed is not None else []
    return [*fails, *_words(SLOWER, slower(logs.median, logs.handled))]


def _recent(started: Sequence[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """Builds and jobs, with the minute in which they began; what began long before is left out."""
    for minute, what in started:
        if minute in MINUTES:
            yield ("job" if is_job(what) else "build", f"@{minute}")


def _din(volume: Level) -> list[str]:
    """Whether the whole system complains more than before."""
    if volume.warnings is None or volume.errors is None:
        return []
    before, now = volume.warnings.before + volume.errors.before, volume.warnings.now + volume.errors.now
    return _words(DIN, (now - before) / sqrt(max(1.0, before + now)))


def _risen(level: str, count: Pair) -> list[str]:
    """A level at which a service writes clearly more than before."""
    grade = _words(RISE, max(0.0, count.now - sqrt(count.now)) / (count.before + 1))
    return [level, *grade] if grade else []
