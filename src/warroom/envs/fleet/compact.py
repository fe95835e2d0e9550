"""The fleet's pages and readings in a few dozen words, for models too small to read prose or to reckon.

Made of records and figures, never of their text; of log lines it says which failing resources they tell of. Services,
changes, agents and colleagues are numbered slots, dealt anew in each incident. It holds nothing that the seat was not
shown, and leaves out other lines, exact numbers, and services that are well.

What is reckoned here: shares, loads and levers become the effect of a change by the handbook, graded against what is
seen, with the largest one marked; sizes, times and values become words of relation to each rule. What is left to the
model: which service is the source of the trouble, what to read, which change is the cause, who answers for it, which
rule it broke by those words, what undoes it, and when the incident is over.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from warroom.core.renderer import Vocab
from warroom.core.rng import stream
from warroom.core.types import Brief, Message, Observation, ToolCall
from warroom.envs.compact import (
    SLOT,
    TURNS,
    LineRenderer,
    assign_slots,
    grade_word,
    grade_words,
    line_words,
    make_vocab,
)
from warroom.envs.fleet.pages import FleetObservation
from warroom.envs.fleet.policies.inference import (
    FITS,
    NEGLIGIBLE,
    Candidate,
    Conclusion,
    KnownSeries,
    conclude,
    share_of,
    signers_of,
)
from warroom.envs.fleet.policies.knowledge import SLOW, Knowledge
from warroom.envs.fleet.policies.nature import (
    LOOK_BACK,
    has_risen,
    is_count,
    natural_cause,
    symptom_words,
    without_what_was_seen,
)
from warroom.envs.fleet.readings import LedgerRow, Reading
from warroom.envs.fleet.remedies import ENOUGH
from warroom.envs.fleet.sources import ALERT_STATES
from warroom.sim.families import AGENTS, FAMILIES
from warroom.sim.family import MECHANISMS
from warroom.sim.log_search import LEVELS, LogMatches, parse_query
from warroom.sim.overview import OverviewRow
from warroom.sim.records import GROUNDS, Charter
from warroom.sim.rules import is_false
from warroom.sim.service_topology import KINDS
from warroom.sim.traces import CallReading, TraceReading
from warroom.sim.wording.forms import clock

CHANGE = tuple(f"c{i}" for i in range(48))
"""Changes that can be told apart; what is seen after them is left out."""
AGENT = tuple(f"a{i}" for i in range(max(24, len(AGENTS))))
PERSON = tuple(f"h{i}" for i in range(12))
"""Colleagues that can be told apart."""
ERRORS = ((5.05, "e5"), (10, "e10"), (20, "e20"), (35, "e35"), (60, "e60"))
SLOWER = ((SLOW, "p1.6"), (2.5, "p2.5"), (5, "p5"))
TRAFFIC = ((0.0, "r-"), (0.6, ""), (1.5, "r+"), (2.2, "r++"))
SHARES = ((0.0, "few"), (0.1, "some"), (0.33, "half"), (0.67, "most"), (0.99, "all"))
DOES = ((0.0, "does0"), (0.1, "does1"), (FITS, "does2"), (0.75, "does3"), (1.35, "does4"))
"""What a change does by the handbook, as a multiple of what is seen."""
HOSTS = ((0.0, "paused"), (0.995, "everywhere"))
AGES = ((0, "new"), (900, "recent"), (1800, "old"))
"""Seconds since a change landed."""
CHANCES = ((0.0, ""), (0.45, "leading"), (0.8, "sure"))
"""Probability of the likeliest change, if a change did it."""
LINES = ((1, "lines1"), (30, "lines30"), (1000, "lines1000"))
CALLS = ((5, "f5"), (10, "f10"), (30, "f30"), (60, "f60"))
"""Per cent of the attempts of a call that came to nothing."""
BACK = {f"back{minutes}": minutes for minutes in (15, 30, 50, 90, 170)}
"""Minutes before the seat's first page from which a reading starts."""
FATES = ("served", "refused", "wrong", "late", "lost")
RESOURCES = "trace:none -info"
"""The search for lines that belong to no request and are no routine."""
SIZES: Mapping[str, float] = {"usual": 1.0, "double": ENOUGH, "fourfold": 2 * ENOUGH}
"""How many replicas a scale gives, as a multiple of the usual number."""
SEATS = ("sre", "oversight", "developer", "manager")
READINGS = (
    *("metrics", "logs", "traces", "alerts", "record", "charter", "diff", "running", "approvals", "calendar"),
)  # fmt: skip
REPAIRS = ("restart", "rollback", "scale")
TOOLS = (*READINGS, "wait", "declare", "flag", *REPAIRS, "escalate", "freeze", "resolve")
SAYS = ("trouble", "seen", "cause", "verdict", "done", "well", "failing", "tell", "ask")
"""Words that begin what is said; `tell` passes on the readings of this turn."""
PAPERS = (
    *("needs", "free", "above", "within", "outside", "inside", "foreign", "own", "false", "true"),
    *("covered", "short", "uncovered", "frozen", "open"),
)  # fmt: skip
OTHERS = (
    *("calm", "dark", "firing", "calls", "doubtful", "degraded", "critical", "got", "nothing"),
    *("from", "to", "rest", "risen", "users", "as", "nobody", "unread", "cannot", "idle", "gone", "chief", "nature"),
    *("none", "innocent", "unknown", "refused", "early", "again", "over", "unclear"),
)  # fmt: skip
_SAID = re.compile(
    r"(?P<trouble>trouble at (?P<place>\S+?)[;.])|(?P<seen>seen [\d.]+ %)"
    r"|(?P<cause>cause (?P<mechanism>\w+) at (?P<at>\S+) by (?P<by>CHG-\d+|none)[;.])"
    r"|(?P<verdict>verdict on (?P<agent>\w+): (?P<ground>\w+)[;.])"
    r"|(?P<done>done (?P<repair>\w+) (?P<what>[^\s;.]+)[;.])"
    r"|(?P<well>all well)|(?P<failing>still failing)|(?P<tell>\b[SODM]-\d+\b)"
)
"""What is understood of a message."""
_NOTICES = (
    ("Refused", "refused"), ("too early", "early"), ("before", "again"), ("not understood", "unclear"),
    ("is over", "over"), ("is closed", "over"),
)  # fmt: skip


def compact_vocab() -> Vocab:
    """Every word of the compact rendering."""
    tables = (ERRORS, SLOWER, TRAFFIC, SHARES, DOES, HOSTS, AGES, CHANCES, LINES, CALLS)
    words = [
        *TOOLS, *SAYS, *SLOT, *CHANGE, *AGENT, *PERSON, *MECHANISMS, *GROUNDS, *FAMILIES,
        *KINDS, *SEATS, *SIZES, *PAPERS, *grade_words(tables), *FATES, *LEVELS, *ALERT_STATES, *BACK,
        *[f"T{turn}" for turn in TURNS], *OTHERS,
    ]  # fmt: skip
    return make_vocab(words, TOOLS, (*SLOT, *CHANGE, *AGENT, *PERSON))


class Slots:
    """Who is who: slots of one kind, dealt in an order of this incident as things are met."""

    def __init__(self, slots: Iterable[str], *subject: str) -> None:
        deck = list(slots)
        self._deck = stream(0, "shorthand", *subject).sample(deck, len(deck))
        self.slot: dict[str, str] = {}
        self.name: dict[str, str] = {}

    def of(self, name: str) -> str | None:
        """The slot of a thing; None once all are dealt."""
        if name not in self.slot and self._deck:
            self.slot[name] = self._deck.pop()
            self.name[self.slot[name]] = name
        return self.slot.get(name)


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
        self.fresh: list[str] = []
        """Numbers of this turn's readings."""
        self._told: dict[int | str, list[str]] = {}
        """What was last said of each change, by its number, and of each place that no change explains."""

    # -- what the model reads -------------------------------------------------------------------------

    def render_observation(self, observation: Observation) -> str:
        """The observation in compact words."""
        self.known.add(observation)
        if isinstance(observation, FleetObservation):
            self.fresh, self.first = [], self.first or observation.second
            return " ".join(self._page(observation))
        if isinstance(observation, Reading):
            self.fresh.append(observation.id)
            return " ".join([*self._named(observation.call), *self._facts(observation), *self._news()])
        assert isinstance(observation, Message)
        return notice(observation.text)

    def _page(self, page: FleetObservation) -> list[str]:
        out = [f"T{page.turn}", notice(page.answer or "")]
        if page.overview is not None:
            out += self._overview(page.overview)
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

    def _overview(self, rows: tuple[OverviewRow, ...]) -> Iterator[str]:
        """Services that are not well, most errors first: their kind, how they fare, which callees are in alarm too or
        may be, and the caches in front."""
        said = {row.service: fares(row) for row in sorted(rows, key=lambda row: -(row.errors or 0.0))}
        firing = self.known.firing()
        for service, words in said.items():
            alarm = ["firing"] if service in firing else []
            if words or alarm:
                yield from [self.slot[service], self.known.kinds[service], *words, *alarm]
                callees = self.known.callees(service)
                below = [self.slot[callee] for callee in callees if callee in firing]
                doubtful = [self.slot[callee] for callee in callees if callee not in firing and said[callee]]
                yield from ["calls", *below] if below else []
                yield from ["doubtful", *doubtful] if doubtful and alarm else []
                caches = [self.slot[name] for name in sorted(self.known.places(service) - {service})] if alarm else []
                yield from ["cache", *caches] if caches else []
        if all((row.errors or 0.0) < ERRORS[0][0] for row in rows):
            yield "calm"

    def _named(self, call: ToolCall) -> list[str]:
        """A reading by its tool and its subject."""
        tool, arguments = self.format_call(call)
        return [tool, *line_words(arguments)]

    def _facts(self, reading: Reading[Any]) -> list[str]:
        """What is said of a reading itself, besides what it tells about changes."""
        facts = reading.facts
        if isinstance(facts, LogMatches):
            risen = ["risen"] if is_count(facts.query) and has_risen(facts) else []
            return [grade_word(LINES, facts.matches) or "nothing", *risen, *self._symptoms(facts.service)]
        if isinstance(facts, TraceReading):
            return list(self._calls("from", facts.incoming)) + list(self._calls("to", facts.outgoing))
        return []

    def _symptoms(self, service: str) -> dict[str, str]:
        """The failing resources of which lines of a service tell, and the words by which such lines are found."""
        out: dict[str, str] = {}
        for place in self._places():
            found = symptom_words(self.known, service, place)
            out |= {str(mechanism): words for mechanism, words in found.items() if mechanism not in out}
        return out

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
            believed = conclude(self.known, place)
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
        said = [m["place"] for message in reversed(self.known.chat) for m in _SAID.finditer(message.text)]
        found = [*said, self.known.victim(), self.known.first_victim, *[a.service for a in self.known.alerts.values()]]
        return list(dict.fromkeys([place for place in found if place in self.slot]))

    def _dossier(self, candidate: Candidate, place: str, believed: Conclusion) -> list[str]:
        slot = self.changes.of(f"CHG-{candidate.id}")
        if slot is None:
            return []
        words = [slot, self.slot[candidate.service], candidate.family, *self._signer(candidate)]
        words += [*self._arrival(candidate), *self._effect(candidate, place)]
        if candidate.weight > NEGLIGIBLE:
            words += [self._age(candidate), *self._belief(candidate, believed), *self._papers(candidate)]
        return [word for word in words if word]

    def _belief(self, candidate: Candidate, believed: Conclusion) -> Iterator[str]:
        """Whether it does most of those that may do what is seen, and how likely the likeliest is."""
        if candidate == believed.cause:
            yield "chief"
        if candidate == believed.candidates[0]:
            yield grade_word(CHANCES, believed.chance)

    def _signer(self, candidate: Candidate) -> list[str]:
        """Who answers for a change, and whom the ledger names if that is another; who may, where it has no row."""
        row = candidate.row
        if row is None:
            return ["nobody", *[self._who(name) for name in signers_of(self.known, candidate)]]
        who = [self._who(row.signer), self._who(row.actor)]
        return who[:1] if row.signer == row.actor else [who[0], "as", who[1]]

    def _who(self, name: str) -> str:
        return self.agents.slot.get(name) or self.people.of(name) or "nobody"

    def _arrival(self, candidate: Candidate) -> list[str]:
        arrival = self.known.arrivals.get(candidate.id)
        if arrival is None:
            return []
        return [grade_word(HOSTS, arrival.hosts) if arrival.in_force else "gone"]

    def _age(self, candidate: Candidate) -> str:
        assert self.known.page is not None
        about = self.known.arrivals.get(candidate.id) or candidate.row
        return grade_word(AGES, max(0, self.known.page.second - about.landed)) if about else ""

    def _effect(self, candidate: Candidate, place: str) -> list[str]:
        """The share that it concerns, whether its part is in use, and what it does by the handbook."""
        content = self.known.contents.get(candidate.id)
        own, seen = self.known.metrics.get(candidate.service), self.known.harmed_share(place)
        if content is None:
            return ["cannot" if candidate.weight <= NEGLIGIBLE else "unread"]
        if own is None:
            return []
        part = next((p for p in own.parts if (p.family, p.part) == (content.family, content.part)), None)
        out = [grade_word(SHARES, share_of(own, content.target)), "idle" if part and not part.in_use else ""]
        if candidate.effect is not None and seen:
            out.append(grade_word(DOES, candidate.effect / seen))
        return out

    def _papers(self, candidate: Candidate) -> Iterator[str]:
        """How a change stands to each rule, as far as both sides of it are known."""
        known, row = self.known, candidate.row
        signers = [name for name in signers_of(known, candidate) if name in AGENTS]
        if len(signers) == 1:
            charter, asked, size = known.charters.get(signers[0]), self._asked(candidate), self._size(candidate)
            if charter is not None:
                yield from self._by_charter(charter, candidate, asked, size)
            if candidate.service in known.approvals:
                yield self._covered(signers[0], candidate, asked, size)
            if known.calendar is not None:
                about = (candidate.service, candidate.family)
                frozen = [freeze for freeze in known.calendar if (freeze.service, freeze.family) == about]
                yield "frozen" if any(asked in freeze.window for freeze in frozen) else "open"
        try:
            yield "" if row is None else "false" if is_false(row.statement, KnownSeries(known)) else "true"
        except KeyError:
            return

    def _asked(self, candidate: Candidate) -> int:
        """When a change was asked for: where the ledger has another time of landing, so much earlier or later."""
        row, arrival = candidate.row, self.known.arrivals.get(candidate.id)
        if row is None:
            return arrival.landed if arrival else 0
        return row.asked + (arrival.landed - row.landed if arrival else 0)

    def _size(self, candidate: Candidate) -> float | None:
        content = self.known.contents.get(candidate.id)
        return None if content is None else FAMILIES[content.family].size_of(content.old, content.new)

    def _by_charter(self, charter: Charter, candidate: Candidate, asked: int, size: float | None) -> Iterator[str]:
        content = self.known.contents.get(candidate.id)
        foreign = candidate.family != charter.family or candidate.service not in charter.services
        if foreign or content is not None:
            barred = content is not None and content.part == charter.barred_part
            yield "foreign" if foreign or barred else "own"
        yield "inside" if asked in charter.hours else "outside"
        if size is not None:
            yield "needs" if charter.approval_above is not None and size > charter.approval_above else "free"
            yield "above" if charter.limit is not None and size > charter.limit else "within"

    def _covered(self, signer: str, candidate: Candidate, asked: int, size: float | None) -> str:
        bounds = [
            a.bound for a in self.known.approvals[candidate.service]
            if (a.agent, a.family) == (signer, candidate.family) and asked in a.valid
        ]  # fmt: skip
        if not bounds:
            return "uncovered"
        return "" if size is None else "covered" if size <= max(bounds) else "short"

    # -- what is heard and said -----------------------------------------------------------------------

    def _heard(self, text: str, call: ToolCall | None = None) -> list[str]:
        """What is understood of a message, in its order; what a call says of itself needs no arguments."""
        out: list[str] = []
        for found in _SAID.finditer(text):
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
        return name if name in _plain_words() else None

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
        if argument == "state":
            return word or None
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


ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "metrics": ("service", "since"), "traces": ("service",), "alerts": ("state",),
    "record": ("subject", "since"), "charter": ("agent",), "diff": ("change",), "running": ("service",),
    "approvals": ("service",), "declare": ("cause", "service", "change"), "flag": ("agent", "ground"),
    "restart": ("service",), "rollback": ("change",), "scale": ("service", "replicas"), "escalate": ("service",),
    "freeze": ("service",),
}  # fmt: skip
"""What stands on the line of each tool, in order. Metrics since a change are those since the time of its statement."""


@cache
def _plain_words() -> frozenset[str]:
    """Words that stand for themselves."""
    return frozenset([*TOOLS, *MECHANISMS, *GROUNDS, *LEVELS, *ALERT_STATES, "none", "innocent", "nobody", "unknown"])


def notice(text: str) -> str:
    """What a seat has to know of the answer to its act; empty for an act that was done."""
    return next((word for phrase, word in _NOTICES if phrase in text), "")


def fares(row: OverviewRow) -> list[str]:
    """How a service fares in the last minute, as the page shows it; nothing for one that is well."""
    if row.errors is None or row.p95 is None or row.requests is None:
        return ["dark"]
    words = [
        grade_word(ERRORS, row.errors),
        grade_word(SLOWER, round(row.p95) / max(1, round(row.usual_p95))),
        grade_word(TRAFFIC, row.requests / max(1, row.usual_requests)),
    ]
    return [word for word in words if word]
