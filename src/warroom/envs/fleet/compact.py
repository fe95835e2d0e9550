"""The fleet's pages in a few dozen words, for models too small to read prose.

Services become numbered slots, drawn anew in each incident; gauges become levels; actions, changes and alerts stand
service by service, minute by minute. It is a summary: it holds nothing that the page lacks, and leaves out log
texts, reasons, exact numbers, and the services that are well.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warroom.core.renderer import Vocab
from warroom.core.types import Brief, Message, Observation, ToolCall
from warroom.envs.compact import (
    SLOT,
    LineRenderer,
    assign_slots,
    grade_word,
    grade_words,
    line_words,
    make_vocab,
    time_words,
)
from warroom.envs.fleet.env import failures
from warroom.envs.fleet.scenario import NO_INCIDENT
from warroom.envs.fleet.views import (
    ChangesResult,
    FleetObservation,
    LogsResult,
    MetricsResult,
    RecordResult,
    ServiceMap,
    ServiceRow,
    TracesResult,
)
from warroom.sim.automation import AGENTS
from warroom.sim.service_topology import KINDS
from warroom.sim.telemetry import Action, CallStats, Gauges

ERRORS = ((1, "e1"), (5, "e5"), (10, "e10"), (20, "e20"), (35, "e35"), (60, "e60"))
SLOWER = ((1.5, "p1.5"), (2, "p2"), (3, "p3"), (6, "p6"))
TRAFFIC = ((0.0, "r-"), (0.72, ""), (1.3, "r+"), (2.0, "r++"))
FAILED = ((8, "f8"), (20, "f20"), (45, "f45"), (75, "f75"))
REPEATED = ((1.5, "x1.5"), (2.2, "x2"))
EXTERNAL_TRAFFIC = ((0.08, "strangers"), (0.3, "flood"))
"""Lower bounds of what a word stands for; below the first nothing is said."""
LEVELS = {"cpu": (70, 80, 88), "memory": (70, 80, 87), "disk": (80, 88, 93), "slots": (50, 70, 90)}
"""Per cent from which a gauge stands at level 1, 2 and 3."""
RULES = {"error rate": "err!", "latency": "lat!", "cpu": "cpu!", "memory": "mem!", "disk": "disk!"}
ONSETS = (RULES["error rate"], RULES["latency"])
STATES = ("healthy", "degraded", "critical", "unknown")
SIZES = ("usual", "double", "most")
"""How many replicas a scale gives: the usual number, twice as many, or three times as many and two."""
CHAT_PATTERNS = (
    (re.compile(r"cause (\S+) at (\S+?)(?=[;.,]|$)"), "cause"),
    (re.compile(r"do (restart|rollback|scale|escalate) (\S+?)(?: to (\d+))?(?=[;.,]|$)"), "do"),
    (re.compile(r"done (restart|rollback|scale|escalate) (\S+?)(?=[;.,]|$)"), "done"),
    (re.compile(r"look at (\S+?)(?=[;.,]|$)"), "look"),
    (re.compile(r"still bad"), "bad"),
    (re.compile(r"all well"), "well"),
)
"""What is understood of the chat."""
SEATS = ("sre", "oversight", "developer", "manager")
OTHERS = (
    *("dark", "needs", "to", "from", "ill", "ok", "late", "n-", "n+", "-", "--", "+", "person", "ERROR", "WARN"),
    *("nothing", "early", "refused", "again", "over"),
    *("began", "above", "before"),
)
REPAIRS = ("restart", "rollback", "scale", "escalate")
TOOLS = (
    *("metrics", "logs", "traces", "record", "pushes"),
    *("wait", "declare", "flag", *REPAIRS, "resolve"),
)
CHAT_WORDS = ("cause", "do", "done", "look", "bad", "well")


def compact_vocab(causes: Iterable[str]) -> Vocab:
    """Every word of the compact rendering."""
    bounds = (ERRORS, SLOWER, TRAFFIC, FAILED, REPEATED, EXTERNAL_TRAFFIC)
    words = [
        *TOOLS, *CHAT_WORDS, *SLOT, *AGENTS, *causes, NO_INCIDENT, *KINDS, *SIZES, *STATES, *RULES.values(),
        *grade_words(bounds),
        *[f"{gauge}{was}{now}" for gauge in LEVELS for was in range(4) for now in range(4) if was or now],
        *time_words(),
        *SEATS, *OTHERS,
    ]  # fmt: skip
    return make_vocab(words, TOOLS, (*SLOT, *AGENTS))


class FleetCompactRenderer(LineRenderer):
    """One seat's compact rendering in one episode."""

    LINE = "the arguments in order, then what to say"

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        facts: ServiceMap = brief.facts
        names = [name for name, _, _ in facts.services]
        self.slot = assign_slots(names, *names)
        self.name: dict[str, str] = {slot: name for name, slot in self.slot.items()}
        self.kind = {name: kind for name, kind, _ in facts.services}
        self.usual: dict[str, int] = {name: replicas for name, _, replicas in facts.services}
        self.callees: dict[str, list[str]] = {name: [] for name in names}
        self.callers: dict[str, list[str]] = {name: [] for name in names}
        for link in facts.calls:
            self.callees[link.caller].append(link.callee)
            self.callers[link.callee].append(link.caller)
        self.causes = frozenset((*failures(), NO_INCIDENT))
        self.unhealthy: set[str] = set()
        """Services on the latest page that are in trouble."""
        self.rps: dict[str, float] = {}
        """Requests per second, as last seen."""
        self.events: dict[str, dict[int, list[str]]] = {name: {} for name in names}
        """Events of each service, by minute: repeated beside its gauges, as dashboards do."""

    # -- what the model reads -------------------------------------------------------------------------

    def render_observation(self, observation: Observation) -> str:
        """The observation in compact words."""
        if isinstance(observation, FleetObservation):
            return " ".join(self._page(observation))
        if isinstance(observation, MetricsResult):
            return " ".join(["metrics", *self._metrics(observation)])
        if isinstance(observation, TracesResult):
            return " ".join(["traces", *self._traces(observation)])
        if isinstance(observation, RecordResult):
            return " ".join(["record", observation.agent, *self._record(observation)])
        if isinstance(observation, ChangesResult):
            made = [word for deploy in observation.deploys for word in (f"@{deploy.minute}", "person")]
            return " ".join(["pushes", self.slot[observation.service], *made])
        if isinstance(observation, LogsResult):
            levels = {line.level for line in observation.lines}
            return " ".join(["logs", self.slot[observation.service], *sorted(levels)])
        assert isinstance(observation, Message)
        return self._notice(observation.text)

    def _notice(self, text: str) -> str:
        if "early" in text:
            return "early"
        if "Refused" in text:
            return "refused"
        if "suspended before" in text:
            return "again"
        return "over" if "is over" in text or "is closed" in text else ""

    def _page(self, page: FleetObservation) -> list[str]:
        out = [f"T{page.turn}", self._notice(page.answer or "")]
        rows, events = self._rows(page.services or ()), self._events(page)
        states = {service: [state] for service, state in page.health or ()}
        for service in [*rows, *[name for name in self.slot if name in states and name not in rows]]:
            out += [self.slot[service], *rows.get(service, []), *states.get(service, [])]
        for service in [name for name in self.slot if name in events]:
            out += self._event_words(service, events[service])
            for minute, words in events[service].items():
                self.events[service].setdefault(minute, []).extend(words)
        for message in page.chat:
            said = self._compress(message.text)
            out += [message.seat, *said] if said else []
        return [word for word in out if word]

    def _rows(self, rows: tuple[ServiceRow, ...]) -> dict[str, list[str]]:
        """What is said of each service that is not well, most errors first: its kind, its levels, and which of its
        callees are not well."""
        worst_first = sorted(rows, key=lambda row: -1.0 if row.error is None else round(row.error, 1), reverse=True)
        said = {row.service: words for row in worst_first if (words := _row(row))}
        self.unhealthy = {service for service, words in said.items() if words != ["dark"]}
        self.rps |= {row.service: row.rps if row.rps is not None else row.usual_rps for row in rows}
        out = {}
        for service, words in said.items():
            below = [self.slot[callee] for callee in self.callees[service] if callee in self.unhealthy]
            out[service] = [self.kind[service], *words, *(["needs", *below] if below else [])]
        return out

    def _events(self, page: FleetObservation) -> dict[str, dict[int, list[str]]]:
        """Per service and minute: alerts, then changes by people and agents, so that each stands near its service."""
        events: dict[str, dict[int, list[str]]] = {}

        def add_event(service: str, minute: int, words: list[str]) -> None:
            events.setdefault(service, {}).setdefault(minute, []).extend(words)

        for alert in page.alerts or ():
            add_event(alert.service, alert.minute, [RULES[alert.rule]])
        for deploy in page.deploys or ():
            add_event(deploy.service, deploy.minute, ["person"])
        for action in page.actions or ():
            add_event(action.service, action.minute, _action_words(action))
        return events

    def _event_words(self, service: str, events: Mapping[int, Sequence[str]]) -> list[str]:
        return [word for minute in sorted(events) for word in (self.slot[service], f"@{minute}", *events[minute])]

    def _onsets(self, service: str) -> set[int]:
        """Minutes in which an alert on a service's errors or latency opened."""
        return {minute for minute, words in self.events[service].items() if any(word in ONSETS for word in words)}

    def _metrics(self, reading: MetricsResult) -> list[str]:
        before, now = reading.rows[0], reading.rows[-1]
        self.rps[reading.service] = before.rps
        words = [
            grade_word(TRAFFIC, now.rps / max(1, before.rps)),
            grade_word(SLOWER, now.p95 / max(1.0, before.p95)),
            grade_word(ERRORS, now.error),
            *[_levels(gauge, before, now) for gauge in LEVELS],
            "n-" if now.replicas < 0.8 * before.replicas else "n+" if now.replicas > 1.2 * before.replicas else "",
        ]
        said = [word for word in words if word]
        event_words = self._event_words(reading.service, self._correlated_events(reading.service))
        for caller in self.callers[reading.service]:
            event_words += self._event_words(caller, self._before(caller, reading.service))
        return [self.slot[reading.service], self.kind[reading.service], *(said or ["ok"]), *event_words]

    def _correlated_events(self, service: str) -> dict[int, list[str]]:
        """The service's events. A change in a minute in which its trouble began is marked: by an alert of its own,
        else by one above, at a caller."""
        own = self._onsets(service)
        above = {minute for caller in self.callers[service] for minute in self._onsets(caller)}
        out = {}
        for minute, words in self.events[service].items():
            out[minute] = _marked(words, "began" if minute in own else "above" if minute in above else "")
        return out

    def _before(self, cache: str, store: str) -> dict[int, list[str]]:
        """What changed a cache in the minute before an alert on the store behind it: misses come a minute later."""
        if self.kind[cache] != "cache":
            return {}
        events = {minute - 1: self.events[cache].get(minute - 1, []) for minute in self._onsets(store)}
        changes = {minute: [word for word in words if word not in RULES.values()] for minute, words in events.items()}
        return {minute: _marked(words, "before") for minute, words in changes.items() if words}

    def _traces(self, reading: TracesResult) -> list[str]:
        out = [self.slot[reading.service]]
        for sign, calls in (("to", reading.outgoing), ("from", reading.incoming)):
            for call in sorted(calls, key=lambda call: call.failed, reverse=True):
                other = call.callee if sign == "to" else call.caller
                out += [sign, self.slot[other], *(["ill"] if other in self.unhealthy else []), *_call(call)]
        known = self.rps.get(reading.service)
        external = (
            grade_word(EXTERNAL_TRAFFIC, reading.outside / known) if known else ("strangers" if reading.outside else "")
        )
        return [*out, *([external] if external else [])]

    def _record(self, reading: RecordResult) -> list[str]:
        out = []
        for action in reading.actions[-12:]:
            out += [f"@{action.minute}", self.slot[action.service], *_action_words(action)[1:]]
        return out or ["nothing"]

    def _compress(self, text: str) -> list[str]:
        """What is understood of a message, in its order; a sentence about things that are not there is left out."""
        found = sorted((m.start(), kind, m) for pattern, kind in CHAT_PATTERNS for m in pattern.finditer(text))
        return [word for _, kind, match in found for word in self._sentence_of(kind, match)]

    def _sentence_of(self, kind: str, match: re.Match[str]) -> list[str]:
        words: list[str] = [group for group in match.groups() if group]
        if kind == "cause":
            words.reverse()  # the place first: what is known of it stands beside it
            if words[-1] not in self.causes:
                return []
        service = next((word for word in words if word not in (*REPAIRS, *self.causes)), None)
        if service is not None and service not in self.slot:
            return []
        if kind == "do":  # only a scale has a number
            words[2:] = [self._size(match[2], int(match[3] or 0))] if match[1] == "scale" else []
        return [kind, *[self.slot.get(word, word) for word in words]]

    def _size(self, service: str, replicas: int) -> str:
        factor = replicas / max(1, self.usual.get(service, replicas))
        return SIZES[bisect_right((1.25, 2.25), factor)]

    # -- what the model says --------------------------------------------------------------------------

    def parse_call(self, name: str, arguments: Mapping[str, Any]) -> ToolCall:
        """The call whose arguments stand on one line, in order; an agent to suspend stands after the reasons."""
        words = line_words(arguments)
        taken: dict[str, Any] = {}
        if name in ("metrics", "logs", "traces", "pushes"):
            return ToolCall(name, {"service": self._service(words)})
        if name == "record":
            return ToolCall(name, {"agent": words.pop(0) if words else ""})
        if name == "flag":
            taken["agent"] = words.pop() if words else ""
        if name in (*REPAIRS, "declare"):
            taken["service"] = self._service(words)
        if name == "declare":
            taken["cause"] = words.pop(0) if words else ""
        if name == "scale":
            taken["replicas"] = self._replicas(taken["service"], words)
        said = self._sentence(words)
        return ToolCall(name, {**taken, **({"say": said} if said else {})})

    def _service(self, words: list[str]) -> str:
        slot = words.pop(0) if words else ""
        return self.name.get(slot, slot)

    def _replicas(self, service: str, words: list[str]) -> int:
        size = words.pop(0) if words and words[0] in SIZES else "usual"
        usual = self.usual.get(service, 1)
        return {"usual": usual, "double": 2 * usual, "most": 3 * usual + 2}[size]

    def _sentence(self, words: list[str]) -> str:
        """The words as the team says them."""
        parts: list[list[str]] = []
        for word in words:
            if word in CHAT_WORDS or not parts:
                parts.append([])
            parts[-1].append(word)
        return "; ".join([said for part in parts if (said := self._say(part[0], part[1:]))])

    def _say(self, kind: str, words: list[str]) -> str:
        names = [self.name.get(word, word) for word in words]
        if kind == "well":
            return "all well"
        if kind == "bad":
            return "still bad"
        if kind == "look":
            return f"look at {' '.join(names)}"
        if kind == "cause":
            return f"cause {' at '.join(reversed(names[:2]))}"
        if kind == "do" and names[:1] == ["scale"] and len(names) > 1:
            return f"do scale {names[1]} to {self._replicas(names[1], words[2:])}"
        return " ".join([kind, *names]) if kind in CHAT_WORDS else ""

    def format_call(self, call: ToolCall) -> tuple[str, dict[str, Any]]:
        """The call on one line."""
        arguments = call.arguments
        words = list[str]()
        if "service" in arguments:
            service = str(arguments["service"])
            words.append(self.slot.get(service, service))
        if "cause" in arguments:
            words.append(arguments["cause"])
        if "replicas" in arguments:
            words.append(self._size(arguments["service"], arguments["replicas"]))
        words += self._compress(arguments.get("say", ""))
        words += [arguments["agent"]] if "agent" in arguments else []
        return call.name, {"line": " ".join(words)}


def _row(row: ServiceRow) -> list[str]:
    if row.error is None or row.p95 is None or row.rps is None:
        return ["dark"]
    words = [
        grade_word(ERRORS[1:], row.error),
        grade_word(SLOWER[1:], round(row.p95) / max(1, round(row.usual_p95))),
        grade_word(TRAFFIC, row.rps / max(1, row.usual_rps)),
    ]
    return [word for word in words if word]


def _action_words(action: Action) -> list[str]:
    """The agent, and for a scale which way."""
    if action.verb != "scale":
        return [action.agent]
    before, _, after = action.detail.partition("->")
    ratio = int(after) / max(1, int(before))
    return [action.agent, "--" if ratio < 0.6 else "-" if ratio < 1 else "+"]


def _marked(words: Sequence[str], mark: str) -> list[str]:
    """The words of a minute, with a mark before each change; none if the mark is empty."""
    changes = ("person", *AGENTS) if mark else ()
    return [part for word in words for part in ((mark, word) if word in changes else (word,))]


def _levels(gauge: str, before: Gauges, now: Gauges) -> str:
    was, stands = (bisect_right(LEVELS[gauge], getattr(row, gauge)) for row in (before, now))
    return f"{gauge}{was}{stands}" if was or stands else ""


def _call(call: CallStats) -> list[str]:
    failed = grade_word(FAILED, call.failed)
    repeated = grade_word(REPEATED, call.per_request / max(0.01, call.usual))
    return [word for word in (repeated, failed or "ok", "late" if failed and call.late >= 50 else "") if word]
