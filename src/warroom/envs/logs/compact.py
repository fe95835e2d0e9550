"""The pages of log triage in a few dozen words, for models too small to read prose.

Services become numbered slots, drawn anew in each incident; counts and durations become grades of change; lines become
(service, level, class of words). Facts that belong together stand together: whatever is known of a suspect, from
whatever page, stands on one row with its kind and its owner. It is a summary of what the agent was shown and said: it
holds nothing that the texts lack, and leaves out ordinary lines, exact numbers, what was always so, and gauges.
"""

import re
from collections.abc import Iterable, Mapping

from warroom.core.renderer import Vocab
from warroom.core.types import Brief, JsonObject, Message, Observation, ToolCall
from warroom.envs import compact
from warroom.envs.compact import MINUTES, SLOT, TURNS, LineRenderer
from warroom.envs.logs.bucketing import (
    HOW_MANY,
    TABLES,
    UNEXPLAINED_TRAFFIC,
    badness_of,
    bucket,
    busier,
    count_rise,
    failing,
    grade_words,
    noise_rise,
)
from warroom.envs.logs.policies.keywords import CLIENT, UNFAMILIAR, class_of, is_complaint, is_job
from warroom.envs.logs.signatures import CLASSES
from warroom.envs.logs.views import (
    ALL,
    REMEDIES,
    SEVERITIES,
    TEAMS,
    CallLogs,
    Catalogue,
    LogEntry,
    LogsObservation,
    Overview,
    Pair,
    Pattern,
    ServiceLogs,
)
from warroom.sim.service_topology import KINDS

SOON = 3
"""Turns left from which the end is said to be near."""
SUSPECT = 0.6
"""How bad calls of a service have to be for it to be a suspect (`grades.badness`)."""
MAX_SUSPECTS = 5
SILENT_FROM = 3.0
"""Per cent of prompt failures seen by callers, from which a service that logs less than half of them is marked."""
BLAMES = "blames"
"""What words are that complain of another service."""
DONE = re.compile(r"Done: (\S+) (\S+)\.")
NOTED = "Noted."
OTHERS = (
    *("needs", "ok", "dark", "late", "prompt", "hushed", "from", "to", "own", "users", "was", "new", BLAMES, "build"),
    *("job", "behind", "ERROR", "WARN", "done", "refused", "over", "soon", "nothing", "unread", "suspects", "named"),
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


def compact_vocab() -> Vocab:
    """Every word of the compact rendering."""
    words = [
        *TOOLS, *SLOT, ALL, *SEVERITIES, *TEAMS, *REMEDIES, *KINDS, *CLASSES, CLIENT, UNFAMILIAR,
        *compact.grade_words(TABLES), *compact.time_words(), *OTHERS, "oncall",
    ]  # fmt: skip
    return compact.make_vocab(words, TOOLS, SLOT)


class LogsCompactRenderer(LineRenderer):
    """One incident's compact rendering for the one on call."""

    LINE = "the arguments in order"

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        self.catalogue: Catalogue = brief.facts
        names = self.catalogue.names
        self.slot = compact.assign_slots(names, self.catalogue.render())
        self.name = {slot: name for name, slot in self.slot.items()}
        self.words = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])")
        """Finds names of services, which are no words."""
        self.gateway = names[0]
        self.read: dict[str, ServiceLogs] = {}
        """The latest logs of each service that were shown."""
        self.marks: dict[str, list[str]] = {}
        """What they say besides figures."""
        self.roots: dict[str, None] = {}
        """The services that were named as roots, in order."""
        self.naming = False
        """Whether the last call named one: whom to page is what comes next."""
        self.done: dict[tuple[str, str], int] = {}
        """(service, remedy) -> turn in which it was carried out."""

    # -- what the model reads -------------------------------------------------------------------------

    def opening(self) -> str:
        """The seat, and the catalogue: who is of what kind, belongs to whom and needs whom."""
        out = [self.brief.seat]
        for entry in self.catalogue.entries:
            needs = [self.slot[callee] for callee in entry.calls]
            out += [*self._entry(entry.name), *(["needs", *needs] if needs else [])]
        return " ".join(out)

    def render_observation(self, observation: Observation) -> str:
        """The observation in compact words."""
        if isinstance(observation, LogsObservation):
            return " ".join(self._page(observation))
        assert isinstance(observation, Message)
        if observation.text == NOTED:
            return " ".join(self._named() if self.roots else self._suspects())
        return " ".join(_notice(observation.text))

    def _page(self, page: LogsObservation) -> list[str]:
        out = [f"T{page.turn}"] if page.turn in TURNS else []
        out += ["soon"] if page.budget - page.turn < SOON else []
        out += [*noise_rise(page.volume), *self._lines(page.lines)]
        if page.reply is None:
            out += self._answer(page)
        elif isinstance(page.reply, Overview):
            out += self._overview(page.reply)
        else:
            out += self._logs(page.reply)
        return [*out, *(self._named(page.turn) if self.roots else [*self._users(), *self._suspects(page.turn)])]

    def _answer(self, page: LogsObservation) -> list[str]:
        """What the last act came to. A remedy is repeated beside the service from now on."""
        done = DONE.fullmatch(page.answer)
        if done is None:
            return _notice(page.answer)
        self.done[done[2], done[1]] = page.turn - 1
        return []

    def _lines(self, lines: Iterable[LogEntry]) -> list[str]:
        """The lines at WARN or above that say something: writer, level, and class of words or who is blamed."""
        said = [(line.service, line.level, *self._said(line)) for line in lines if line.level in ("WARN", "ERROR")]
        rows = [(self.slot[name], level, *words) for name, level, *words in dict.fromkeys(said) if words]
        return [word for row in rows for word in row]

    def _said(self, line: LogEntry) -> list[str]:
        """The class of a line's words, or whom it blames."""
        name = self._class_of(line.text)
        if name == BLAMES:
            return [name, *([self.slot[line.callee]] if line.callee else [])]
        return [name] if name != UNFAMILIAR else []

    def _class_of(self, text: str) -> str:
        """The class of words; names of services are no words."""
        words = self.words.sub("", text)
        return class_of(words) or (BLAMES if is_complaint(words) else UNFAMILIAR)

    # -- replies --------------------------------------------------------------------------------------------

    def _entry(self, service: str, kind: bool = True) -> list[str]:
        """A service with its kind and its owner."""
        entry = self.catalogue.entry(service)
        return [self.slot[service], *([entry.kind] if kind else []), entry.team]

    def _users(self) -> list[str]:
        """How users fared when they were last asked after."""
        logs = self.read.get(self.gateway)
        return ["users", *grade_words(logs)] if logs is not None else []

    def _overview(self, overview: Overview) -> list[str]:
        out = []
        for level in overview.levels:
            grade = ["dark"] if level.errors is None else count_rise(level.errors)
            out += [self.slot[level.service], "ERROR", *grade] if grade else []
        return [ALL, *(out or ["nothing"])]

    def _logs(self, logs: ServiceLogs) -> list[str]:
        """One service: what its callers say of it, what it says of itself and of its callees, and in what words."""
        service, before = logs.service, self.read.get(logs.service)
        self.read[service], self.marks[service] = logs, self._marks_of(logs)
        out = [self.slot[service], *(["behind"] if logs.behind else [])]
        if logs.level.lines is None:
            return [*out, "dark"]
        report = self._worst_reporter(service)
        out += ["from", *grade_words(report)] if report is not None else []
        out += ["own", *grade_words(logs), *(["was", *grade_words(before)] if before is not None else [])]
        apart = service not in self.roots and self._badness(service) < SUSPECT
        return [*out, *self._below(logs, before), *(self.marks[service] if apart else [])]

    def _worst_reporter(self, service: str) -> CallLogs | None:
        """What the caller with most calls of a service says of it, by its latest logs."""
        callers = [self.read[name] for name in self.catalogue.callers(service) if name in self.read]
        rows = [row for logs in callers for row in logs.calls if row.callee == service]
        return max(rows, key=lambda row: row.made.now, default=None)

    def _below(self, logs: ServiceLogs, before: ServiceLogs | None) -> list[str]:
        """The callees, the worst first, and what was said of them before."""
        was = {row.callee: grade_words(row) for row in before.calls} if before is not None else {}
        out: list[str] = []
        for row in sorted(logs.calls, key=lambda row: -badness_of(row)):
            earlier = was.get(row.callee, ["ok"])
            out += ["to", self.slot[row.callee], *grade_words(row), *(["was", *earlier] if earlier != ["ok"] else [])]
        return out

    def _marks_of(self, logs: ServiceLogs) -> list[str]:
        """What the logs of a service say besides figures: silence, unknown clients, new words, recent starts."""
        starts = [("job" if is_job(what) else "build", minute) for minute, what in logs.started if minute in MINUTES]
        return [
            *self._silent_service(logs),
            *self._unexplained_traffic(logs),
            *[word for pattern in logs.patterns for word in self._new(pattern)],
            *[word for what, minute in starts for word in (what, f"@{minute}")],
        ]

    def _silent_service(self, logs: ServiceLogs) -> list[str]:
        """Whether a service owns up to less than half of what its callers see fail: dead workers say nothing."""
        row = self._worst_reporter(logs.service)
        if row is None or logs.handled is None or logs.failed is None:
            return []
        seen = failing(row.failed, row.made) * (1 - row.late / 100)
        return ["hushed"] if seen >= SILENT_FROM and failing(logs.failed, logs.handled) < seen / 2 else []

    def _unexplained_traffic(self, logs: ServiceLogs) -> list[str]:
        """Whether a service handles more than its callers, or all users, ask of it."""
        asked = self._asked(logs.service)
        return (
            bucket(UNEXPLAINED_TRAFFIC, busier(logs.handled, asked))
            if asked is not None and logs.handled is not None
            else []
        )

    def _asked(self, service: str) -> Pair | None:
        callers = self.catalogue.callers(service)
        rows = [row for name in callers if name in self.read for row in self.read[name].calls if row.callee == service]
        if rows and len(rows) == len(callers):
            return Pair(sum([row.made.before for row in rows]), sum([row.made.now for row in rows]))
        return self.read[self.gateway].handled if self.gateway in self.read and service != self.gateway else None

    def _new(self, pattern: Pattern) -> list[str]:
        """Words that are new, by class; those about other services follow from the calls."""
        name = self._class_of(pattern.text)
        if name == BLAMES or pattern.occurrences.before or not pattern.occurrences.now:
            return []
        return ["new", name, *bucket(HOW_MANY, pattern.occurrences.now)]

    # -- suspects -------------------------------------------------------------------------------------------

    def _suspects(self, turn: int = 0) -> list[str]:
        """All that is known of each service in trouble, the worst first; none where all is well."""
        bad = {name: found for name in self.slot if (found := self._badness(name)) >= SUSPECT}
        if any(name in bad for name in self.catalogue.entry(self.gateway).calls):
            bad.pop(self.gateway, None)  # users suffer from what is below
        worst = sorted(bad, key=lambda name: -bad[name])[:MAX_SUSPECTS]
        rows = [word for name in worst for word in self._row(name, turn, bad)]
        return ["suspects", *(rows or ["nothing"])] if self.read else []

    def _named(self, turn: int = 0) -> list[str]:
        """All that is known of the services that were named as roots; the owners alone while roots are being named."""
        return ["named", *[word for name in self.roots for word in self._row(name, turn, (), kind=not self.naming)]]

    def _badness(self, service: str) -> float:
        """How bad a service is for its callers; one with new words about itself is a suspect whatever they say."""
        row = self._worst_reporter(service) or self.read.get(service)
        speaks = any(word in CLASSES for word in self.marks.get(service, ()))
        return max(badness_of(row) if row is not None else 0.0, SUSPECT if speaks else 0.0)

    def _row(self, service: str, turn: int, bad: Iterable[str], kind: bool = True) -> list[str]:
        """A service by those who call it, what marks it, whom in trouble it needs, and what was done to it."""
        row, logs = self._worst_reporter(service) or self.read.get(service), self.read.get(service)
        needs = [self.slot[name] for name in self.catalogue.entry(service).calls if name in bad]
        remedies_done = [(remedy, when) for (name, remedy), when in self.done.items() if name == service]
        return [
            *self._entry(service, kind),
            *(grade_words(row) if row is not None else []),
            *(["unread"] if logs is None else ["dark"] if logs.level.lines is None else self.marks[service]),
            *(["needs", *needs] if needs else []),
            *[word for remedy, when in remedies_done for word in ("done", remedy, *self._ago(turn, when))],
        ]

    def _ago(self, turn: int, when: int) -> list[str]:
        """How many minutes ago something was done; nothing within a turn."""
        return [f"@{max(when - turn, MINUTES[0])}"] if turn else []

    # -- what the model says --------------------------------------------------------------------------

    def parse_call(self, name: str, arguments: Mapping[str, object]) -> ToolCall:
        """The call whose arguments stand on one line, in order. A service that is named as a root is remembered."""
        words = compact.line_words(arguments)
        expected = ARGUMENTS.get(name, ())
        meant = {key: self.name.get(word, word) for key, word in zip(expected, words, strict=False)}
        self.naming = name == "identify_root_cause" and meant.get("service") in self.slot
        if self.naming:
            self.roots[meant["service"]] = None
        return ToolCall(name, {key: meant.get(key, "") for key in expected})

    def format_call(self, call: ToolCall) -> tuple[str, JsonObject]:
        """The call on one line."""
        values = [str(call.arguments.get(key, "")) for key in ARGUMENTS.get(call.name, ())]
        return call.name, {"line": " ".join(self.slot.get(value, value) for value in values)}


def _notice(text: str) -> list[str]:
    if "Refused" in text:
        return ["refused"]
    return ["over"] if "is over" in text or "is closed" in text else []
