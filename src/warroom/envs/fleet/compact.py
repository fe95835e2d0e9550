"""The fleet's pages and readings in a few dozen words, for models too small to read prose or to reckon.

Made of records and figures, never of their text; of log lines it says which failing resources they tell of. Services,
changes, agents and colleagues are numbered slots, dealt anew in each incident. It holds nothing that the seat was not
shown, and leaves out other lines, exact numbers, and services that are well.

What is reckoned here: shares, loads and levers become the effect of a change by the handbook, graded against what is
seen, with the largest one marked; sizes, times and values become words of relation to each rule. What is left to the
model: which service is the source of the trouble, how long to read on (what nobody has read is named in order), which
change is the cause, who answers for it, which rule it broke by those words, what undoes it, and when it is over.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from warroom.core.types import Brief, Message, Observation, ToolCall
from warroom.envs.compact import (
    LineRenderer,
    assign_slots,
    grade_word,
    line_words,
)
from warroom.envs.fleet import compact_open
from warroom.envs.fleet.compact_standing import TeamStanding, what_is_left_out
from warroom.envs.fleet.compact_suspects import age_word, arrival_words, effect_words, paper_words
from warroom.envs.fleet.compact_words import (
    AGENT,
    ARGUMENTS,
    BACK,
    CALLS,
    CHANCES,
    CHANGE,
    FATES,
    LINES,
    OPEN,
    PERSON,
    READINGS,
    RESOURCES,
    SAID,
    SAYS,
    SIZES,
    Slots,
    notice,
    plain_words,
)
from warroom.envs.fleet.pages import FleetObservation
from warroom.envs.fleet.policies.inference import (
    NEGLIGIBLE,
    Conclusion,
    SuspectChange,
    conclude,
    signers_of,
)
from warroom.envs.fleet.policies.knowledge import Knowledge
from warroom.envs.fleet.policies.nature import (
    LOOK_BACK,
    has_risen,
    is_count,
    natural_cause,
    without_what_was_seen,
)
from warroom.envs.fleet.readings import SeatReading
from warroom.envs.fleet.remedies import ENOUGH
from warroom.sim.families import AGENTS
from warroom.sim.log_search import LEVELS, LogMatches, parse_query
from warroom.sim.records import LedgerRow
from warroom.sim.traces import CallReading, TraceReading
from warroom.sim.wording.forms import clock


class FleetCompactRenderer(LineRenderer):
    """One seat's compact rendering in one episode."""

    LINE = "the arguments in order, then what to say"

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        self.known = Knowledge(brief.facts)
        names = [service.name for service in self.known.map.services]
        self.slot = assign_slots(names, *names)
        self.name = {slot: name for name, slot in self.slot.items()}
        self.usual = {service.name: service.replicas for service in self.known.map.services}
        self.changes = Slots(CHANGE, "changes", *names)
        self.agents = Slots(AGENT, "agents", *names)
        for agent in AGENTS:
            self.agents.of(agent)
        self.people = Slots(PERSON, "people", *names)
        self.first = 0
        """Second of the seat's first page."""
        self.standing = TeamStanding(self.known)
        self.fresh: list[str] = []
        """Numbers of this turn's readings."""
        self._concluded: dict[str, Conclusion] = {}
        """What follows from all that is known by now, by place."""
        self._told: dict[int | str, list[str]] = {}
        """What was last said of each change, by its number, and of each place that no change explains."""

    # -- what the model reads -------------------------------------------------------------------------

    def render_observation(self, observation: Observation) -> str:
        """The observation in compact words."""
        self.known.add(observation)
        self._concluded = {}
        if isinstance(observation, FleetObservation):
            self.fresh, self.first = [], self.first or observation.second
            self.standing.turn(observation)
            return " ".join([*self._page(observation), *self._open(), *self.standing.words(0)])
        if isinstance(observation, SeatReading):
            self.fresh.append(observation.id)
            said = [*self._named(observation.call), *self._facts(observation), *self._news()]
            return " ".join([*said, *self._open(), *self.standing.words(len(self.fresh))])
        assert isinstance(observation, Message)
        return notice(observation.text)

    def _page(self, page: FleetObservation) -> list[str]:
        out = [f"T{page.turn}", notice(page.answer or "")]
        if page.overview is not None:
            out += self.standing.overview(page.overview, self.slot)
        if page.health is not None:
            troubled = [row for row in page.health if row.state in ("degraded", "critical")]
            out += [word for row in troubled for word in (self.slot[row.service], row.state)] or ["calm"]
        for request in page.requests:
            out += ["ask", *self._named(request.call)]
        for message in page.chat:
            out += [message.seat, *[word for word in self._heard(message.text) if word not in ("seen", "tell")]]
            for reading in message.readings:
                out += ["got", *self._named(reading.call)[:2]]
        self._told = {}
        return [word for word in [*out, *self._news()] if word]

    def _named(self, call: ToolCall) -> list[str]:
        """A reading by its tool and its subject."""
        tool, arguments = self.format_call(call)
        return [tool, *line_words(arguments)]

    def _facts(self, reading: SeatReading[Any]) -> list[str]:
        """What is said of a reading itself, besides what it tells about changes."""
        facts = reading.facts
        if isinstance(facts, LogMatches):
            risen = ["risen"] if is_count(facts.query) and has_risen(facts) else []
            return [grade_word(LINES, facts.matches) or "nothing", *risen, *self._symptoms(facts.service)]
        if isinstance(facts, TraceReading):
            return list(self._calls("from", facts.incoming)) + list(self._calls("to", facts.outgoing))
        return [self.slot.get(word) or self.agents.slot.get(word, word) for word in what_is_left_out(facts)]

    def _symptoms(self, service: str) -> dict[str, str]:
        return compact_open.symptoms_told(self.known, service, self._places())

    def _calls(self, sign: str, calls: tuple[CallReading, ...]) -> Iterator[str]:
        for call in calls:
            other = call.caller if sign == "from" else call.callee
            counts = call.counts
            if counts is not None and counts.attempts:
                lost = 100 * (1 - counts.served / counts.attempts)
                worst = max(FATES[1:], key=lambda fate: getattr(counts, fate))
                if grade_word(CALLS, lost):
                    yield from [sign, self.slot.get(other, "users"), worst, grade_word(CALLS, lost)]

    # -- what is known of changes ---------------------------------------------------------------------

    def _news(self) -> list[str]:
        """What is known of changes, and of failures that no change made, and was not said on this page yet."""
        out = []
        for subject, words in self._dossiers().items():
            if self._told.get(subject) != words:
                self._told[subject] = words
                out += [word for word in words if word]
        return out

    def _dossiers(self) -> dict[int | str, list[str]]:
        """All that is known of each change that may have to do with the trouble, the likeliest first."""
        out: dict[int | str, list[str]] = {}
        for place in self._places():
            believed = self._conclude(place)
            for candidate in believed.candidates:
                if candidate.id not in out:
                    out[candidate.id] = self._dossier(candidate, place, believed)
            found = natural_cause(self.known, place)
            if believed.nature or found:
                told = [found.mechanism, "sure" if found.sure else ""] if found else ["unknown"]
                out[place] = ["nature", "" if believed.nature else "leading", self.slot[place], *told]
        return out

    def _places(self) -> list[str]:
        """Services in trouble: where others say it is, then where alerts seem to have their source, then the others."""
        alarmed = [alert.service for alert in self.known.alerts.values() if alert.service in self.slot]
        return list(dict.fromkeys([*self._troubled(), *alarmed]))

    def _dossier(self, candidate: SuspectChange, place: str, believed: Conclusion) -> list[str]:
        slot = self.changes.of(f"CHG-{candidate.id}")
        if slot is None:
            return []
        about = [slot, *self._signer(candidate), self.slot[candidate.service], candidate.family]
        words = [*arrival_words(self.known, candidate), *effect_words(self.known, candidate, place)]
        if candidate.weight > NEGLIGIBLE:
            # What is believed stands before the change and its signer, so that who looks for them finds them by it.
            about = [*self._belief(candidate, believed), *about]
            words += [
                age_word(self.known, candidate),
                *[self.slot.get(word, word) for word in paper_words(self.known, candidate)],
            ]
        return [word for word in [*about, *words] if word]

    def _open(self) -> list[str]:
        """What the seat could read next and nobody has yet, the likeliest to tell first: papers of a cause that is
        settled, services in trouble, then diffs, charters and searches; the bare slot of a diff or a charter."""
        seat, believed = self.brief.seat, [self._conclude(place) for place in self._troubled()]
        words = [" ".join(self._named(call)) for call in compact_open.open_pages(self.known, seat, believed)]
        words += [" ".join(["ask", *self._named(call)]) for call in compact_open.to_ask_for(self.known, seat, believed)]
        first = list(dict.fromkeys([*words, *self._unread()]))[:OPEN]
        return ["open", *first] if first else []

    def _unread(self) -> list[str]:
        """Diffs, charters and counts of lines that nobody has read."""
        seat, candidates = self.brief.seat, self._candidates()
        diffs = compact_open.unread_diffs(self.known, candidates) if seat == "developer" else []
        charters = compact_open.unread_charters(self.known, candidates) if seat == "oversight" else []
        slots = [*map(self.changes.of, diffs), *map(self.agents.of, charters)]
        counts = [
            f"{self.slot[service]} {mechanism}"
            for service in dict.fromkeys([service for service, _ in self.known.logs] if seat == "sre" else [])
            for mechanism in compact_open.uncounted(self.known, service, self._symptoms(service))
        ]
        return [*[slot for slot in slots if slot], *counts]

    def _troubled(self) -> list[str]:
        """Services that are the source of the trouble: where others say it is, and where alerts have theirs."""
        said = [m["place"] for message in reversed(self.known.chat) for m in SAID.finditer(message.text)]
        found = [*said, self.known.victim(), self.known.first_victim]
        return list(dict.fromkeys([place for place in found if place in self.slot]))

    def _candidates(self) -> list[SuspectChange]:
        """Changes that may have to do with the trouble: the likeliest of each place first, place by place."""
        return [candidate for place in self._places() for candidate in self._conclude(place).candidates]

    def _conclude(self, place: str) -> Conclusion:
        if place not in self._concluded:
            self._concluded[place] = conclude(self.known, place)
        return self._concluded[place]

    def _belief(self, candidate: SuspectChange, believed: Conclusion) -> Iterator[str]:
        """Whether it does most of those that may do what is seen, and how likely the likeliest is."""
        if candidate == believed.cause:
            yield "chief"
        if candidate == believed.candidates[0]:
            yield grade_word(CHANCES, believed.chance)

    def _signer(self, candidate: SuspectChange) -> list[str]:
        """Who answers for a change, and whom the ledger names if that is another; who may, where it has no row."""
        row = candidate.row
        if row is None:
            return ["nobody", *[self._who(name) for name in signers_of(self.known, candidate)]]
        who = [self._who(row.signer), self._who(row.actor)]
        return who[:1] if row.signer == row.actor else [who[0], "as", who[1]]

    def _who(self, name: str) -> str:
        return self.agents.slot.get(name) or self.people.of(name) or "nobody"

    # -- what is heard and said -----------------------------------------------------------------------

    def _heard(self, text: str, call: ToolCall | None = None) -> list[str]:
        """What is understood of a message, in its order; what a call says of itself needs no arguments."""
        out: list[str] = []
        for found in SAID.finditer(text):
            words = self._sentence(found)
            if words and words[0] not in (out if words[0] == "tell" else ()):
                own = call is not None and self._says_of_itself(call, words)
                out += words[:1] if own else words
        return out

    def _sentence(self, found: re.Match[str]) -> list[str]:
        """The words of one sentence; none if it speaks of things that are not there."""
        kind = next(word for word in SAYS if word != "ask" and found[word])
        named = {
            "trouble": ("place",), "cause": ("mechanism", "at", "by"), "verdict": ("agent", "ground"),
            "done": ("repair", "what"),
        }.get(kind, ())  # fmt: skip
        words = [self._word(found[group]) for group in named]
        return [kind, *[word for word in words if word]] if all(words) else []

    def _word(self, name: str) -> str | None:
        if name.startswith("CHG-"):
            return self.changes.of(name)
        for slots in (self.slot, self.agents.slot, self.people.slot):
            if name in slots:
                return slots[name]
        return name if name in plain_words() else None

    def _says_of_itself(self, call: ToolCall, words: list[str]) -> bool:
        """Whether a sentence repeats the arguments of the call that it goes with; the verdict beside a flag does."""
        own = self._arguments(call)
        if words[0] == "verdict":
            return call.name == "flag"
        return words in (["cause", *own], ["done", call.name, *own[:1]])

    def parse_call(self, name: str, arguments: Mapping[str, Any]) -> ToolCall:
        """The call whose arguments stand on one line, in order, with what is said after them."""
        words = line_words(arguments)
        if name == "logs":
            return ToolCall(name, self._parse_search(words))
        taken: dict[str, Any] = {}
        for argument in ARGUMENTS.get(name, ()):
            if words and words[0] in SAYS:
                break
            word = words.pop(0) if words else ""
            value = self._argument(name, argument, word, taken)
            if value is not None:
                taken[argument] = value
        if name in READINGS:
            return ToolCall(name, taken)
        words, asked = (words[: words.index("ask")], words[words.index("ask") + 1 :]) if "ask" in words else (words, [])
        say = self._say(words, ToolCall(name, taken))
        if say:
            taken["say"] = say
        if asked:
            taken["ask"] = self._ask(asked)
        return ToolCall(name, taken)

    def _argument(self, tool: str, argument: str, word: str, taken: Mapping[str, Any]) -> Any:
        """The value that a word stands for; None to leave an argument out."""
        if argument == "since":
            row = self._row_of(word)
            return clock(row.statement.as_of) if row else self._ago(BACK[word]) if word in BACK else None
        if argument == "replicas":
            factor = SIZES.get(word, ENOUGH)
            return min(99, round(factor * self.usual.get(str(taken.get("service")), 1)))
        if argument in ("state", "words"):
            return self._thing(word) or None
        return self._thing(word)

    def _parse_search(self, words: list[str]) -> dict[str, str]:
        """A search in a log: for one level, for all lines about resources, for those of a callee, for what was not
        seen yet, or for the lines of one kind of failure."""
        service = self._thing(words[0]) if words else ""
        kind, about = [*words[1:3], "", ""][:2]
        searches = {
            **{level: f"level:{level}" for level in LEVELS},
            **(self._symptoms(service) if service in self.slot else {}),
            "all": RESOURCES, "from": f"trace:none {self._thing(about)}",
        }  # fmt: skip
        if kind == "rest":
            searches[kind] = without_what_was_seen(self.known, service)
        given = {"words": searches[kind]} if kind in searches else {}
        since = {"since": self._ago(LOOK_BACK)} if given and kind not in LEVELS else {}
        return {"service": service, **given, **since}

    def _search_word(self, service: str, words: str) -> list[str]:
        """What a search is for, as `_parse_search` takes it."""
        try:
            query = parse_query(words)
        except ValueError:
            return []
        if words == RESOURCES or query.level:
            return [query.level or "all"]
        if query.trace is not None and query.words:
            return ["from", self.slot[query.words[0]]] if query.words[0] in self.slot else []
        if len(query.without) > 1:
            return ["rest"]
        return [kind for kind, found in self._symptoms(service).items() if found == words][:1]

    def _thing(self, word: str) -> str:
        """The name of what a slot stands for, or the word itself."""
        for names in (self.name, self.changes.name, self.agents.name, self.people.name):
            if word in names:
                return names[word]
        return word

    def _row_of(self, slot: str) -> LedgerRow | None:
        number = self.changes.name.get(slot, "")
        return self.known.rows.get(int(number.removeprefix("CHG-"))) if number else None

    def _ask(self, words: list[str]) -> str:
        """A request in the environment's words: the seat, the reading and its arguments."""
        call = self.parse_call(words[1], {"line": " ".join(words[2:])}) if len(words) > 1 else None
        given = [] if call is None else [str(value) for value in call.arguments.values()]
        return " ".join([*words[:2], *given])

    def _say(self, words: list[str], call: ToolCall) -> str:
        """The words as the team says them."""
        parts: list[list[str]] = []
        for word in words:
            if word in SAYS or not parts:
                parts.append([])
            parts[-1].append(word)
        place = next((self._thing(part[1]) for part in parts if part[0] == "trouble" and len(part) > 1), "")
        return " ".join([said for part in parts if (said := self._said(part[0], part[1:], call, place))])

    def _said(self, kind: str, words: list[str], call: ToolCall, place: str) -> str:
        given = [self._thing(word) for word in words] or [str(value) for value in call.arguments.values()]
        if kind == "trouble" and words:
            return f"trouble at {given[0]};"
        if kind == "seen":
            seen = self.known.harmed_share(place)
            return "" if seen is None else f"seen {100 * seen:.1f} %;"
        if kind == "cause" and len(given) > 2:
            return f"cause {given[0]} at {given[1]} by {given[2]};"
        if kind == "verdict" and len(given) > 1:
            return f"verdict on {given[0]}: {given[1]};"
        if kind == "done" and given:
            return f"done {' '.join(given[:2] if words else [call.name, given[0]])};"
        return {"well": "all well", "failing": "still failing", "tell": " ".join(self.fresh)}.get(kind, "")

    def format_call(self, call: ToolCall) -> tuple[str, dict[str, Any]]:
        """The call on one line."""
        words = self._arguments(call)
        if call.name not in READINGS:
            words += self._heard(str(call.arguments.get("say", "")), call)
            words += self._request(str(call.arguments.get("ask", "")))
        return call.name, {"line": " ".join(words)}

    def _arguments(self, call: ToolCall) -> list[str]:
        if call.name == "logs":
            service = str(call.arguments.get("service"))
            found = self._search_word(service, str(call.arguments.get("words", "")))
            return [word for word in (self._word(service), *found) if word]
        out = []
        for argument in ARGUMENTS.get(call.name, ()):
            if argument in call.arguments:
                out.append(self._argument_word(call, argument))
        return [word for word in out if word]

    def _argument_word(self, call: ToolCall, argument: str) -> str | None:
        value = str(call.arguments[argument])
        if argument == "since":
            return self._since(str(call.arguments.get("service")), value)
        if argument == "replicas":
            usual = self.usual.get(str(call.arguments.get("service")), 1)
            return min(SIZES, key=lambda size: abs(min(99, round(SIZES[size] * usual)) - int(value)))
        return self._word(value)

    def _since(self, service: str, time: str) -> str | None:
        """The change whose statement speaks of that service and time, else how far back it is."""
        for number, row in self.known.rows.items():
            if row.statement.subject == service and clock(row.statement.as_of) == time:
                return self.changes.of(f"CHG-{number}")
        return next((word for word, minutes in BACK.items() if self._ago(minutes) <= time), None)

    def _ago(self, minutes: int) -> str:
        """The time so many minutes before the seat's first page."""
        return clock(max(0, self.first - 60 * minutes) // 60 * 60)

    def _request(self, ask: str) -> list[str]:
        words = ask.split()
        if len(words) < 2 or words[1] not in READINGS:
            return []
        given = dict(zip(ARGUMENTS.get(words[1], ()), words[2:], strict=False))
        return ["ask", words[0], *self._named(ToolCall(words[1], given))]
