"""What the page reads, as records: runs, incidents and episodes. `docs/ui-contract.md` and its JSON schema are made
from this module; whoever changes a field raises `CONTRACT`.

An episode has three parts. The record (`Episode` itself) holds what seats were shown, asked, said and answered.
`World` holds what instruments and papers held in each minute, also what no seat looked at, but no judgement. `Truth`
holds cause, guilt, grades, points and what was best. While an incident is played, only the record may leave a server.
"""

from dataclasses import dataclass
from typing import Any, Literal

CONTRACT = 1
"""Version of these records; the page refuses another."""

Environment = Literal["fleet", "logs", "tickets"]
Grade = Literal["best", "good", "inaccuracy", "mistake", "blunder", "none"]
Tone = Literal["good", "fair", "bad"]
Scalar = str | int | float | bool | None


# -- the record: what seats were shown, asked, said and answered ------------------------------------------


@dataclass(frozen=True, slots=True)
class Axis:
    """The one axis of time of an episode. Turn n stands at `page + n - 1`."""

    unit: Literal["minute", "turn"]
    """Minutes of the day, or where no clock runs (tickets), turns."""
    first: int
    """Where the axis begins: some minutes before the page."""
    page: int
    """The first turn."""
    last: int
    """The last that was reached, the end included."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool. What a seat says to others (`say`) and asks of them (`ask`) is among the arguments."""

    n: int
    """Number of the call in the episode, from 0: where somebody may take over."""
    tool: str
    arguments: dict[str, Any]
    result: str
    """What the seat was answered."""
    reads: bool
    """Whether it left the turn open (a reading, a declaration that takes no time)."""
    refused: bool
    message: str
    """What a model wrote beside the call; empty for scripts."""
    reading: str | None
    """Number under which others quote it, such as S-2."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of one seat: its page, its readings, and the act that ended it (the last call)."""

    n: int
    """From 1."""
    at: int
    """Place on the axis."""
    seat: str
    shown: str
    """The page at the start of the turn."""
    calls: tuple[Call, ...]
    path: str
    """Digest of all calls up to the end of this turn: two episodes of one incident agree up to here if it is equal."""


@dataclass(frozen=True, slots=True)
class Link:
    """A service calls another."""

    source: str
    target: str
    rate: float | None
    """Calls per request, if known."""
    needed: bool
    """Whether the caller's request fails when the call fails."""


@dataclass(frozen=True, slots=True)
class Service:
    """A box of the graph."""

    name: str
    kind: str
    """gateway, service, db, cache, queue, ..."""
    replicas: int | None
    requests: float | None
    """Usual requests per second; None where no seat is told."""
    p95: float | None
    """Usual milliseconds; None where no seat is told."""
    team: str | None
    """Who owns it; None where nobody is told."""


@dataclass(frozen=True, slots=True)
class Incident:
    """What all episodes of one incident share, as every seat may know it."""

    id: str
    """Opaque: it tells neither scenario nor cause."""
    name: str
    """Such as "Incident 30514"."""
    env: Environment
    seats: tuple[str, ...]
    budget: int
    """Turns at most."""
    services: tuple[Service, ...]
    links: tuple[Link, ...]
    briefs: dict[str, str]
    """What each seat is told before its first turn."""
    article: str | None
    """tickets: the ticket, which stands in the graph's place."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One incident as one policy played it."""

    contract: int
    id: str
    incident: str
    """Id of its `Incident`."""
    env: Environment
    policy: str
    over: bool
    """False while it is played; there is no world and no truth then."""
    axis: Axis
    turns: tuple[Turn, ...]
    world: "World | None"
    truth: "Truth | None"


# -- the world: what could have been looked at, without judgement -----------------------------------------


@dataclass(frozen=True, slots=True)
class AlertLife:
    """An alert, from when it fired to when it resolved."""

    service: str
    name: str
    since: int
    until: int | None
    """None: it still fired at the end."""
    value: float
    limit: float
    unit: str


@dataclass(frozen=True, slots=True)
class Statement:
    """What an agent claimed when it asked, beside the series that supports or refutes it."""

    text: str
    subject: str
    metric: str
    value: float
    as_of: int
    """Minute of the axis that it speaks of."""
    first: int
    """Minute of the first value of `series`."""
    step: int
    """Minutes between two values."""
    series: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A change by an agent or a person, before or during the incident."""

    id: str
    """Such as CHG-7718."""
    asked: int
    """Minute of the axis."""
    landed: int
    actor: str
    """Whom the ledger names."""
    signer: str
    """Whose credential signed it."""
    agent: bool
    """Whether the signer is an automation agent, and not a colleague."""
    family: str
    """What kind of change: scale, deploy, toggle, ..."""
    service: str
    approval: str | None
    statement: Statement | None
    diff: str | None
    """What it edited, in words; None for routine changes, which nobody suspects."""
    ledger: str | None
    """Its row of the ledger; None if the row is missing."""
    again: tuple[int, ...]
    """Minutes in which its controller made it again."""
    undone: tuple[int, ...]
    """Minutes in which a seat rolled it back."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A charter, an approval or an entry of the calendar, in words."""

    kind: Literal["charter", "approval", "calendar"]
    name: str
    """The agent of a charter, the number of an approval, "calendar"."""
    service: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """tickets: a document that was found, opened or cited, or that should have been."""

    id: str
    kind: str
    """article, ticket or incident."""
    title: str
    body: str | None
    """None if nobody opened it."""
    found: int | None
    """Turn in which a search first showed it."""
    opened: int | None
    cited: bool


Sample = tuple[float, ...]
"""Requests per second, 95th percentile in ms, errors in percent."""


@dataclass(frozen=True, slots=True)
class World:
    """What instruments, ledger and papers held, minute by minute."""

    series: dict[str, tuple[Sample | None, ...]]
    """By service, a sample for each minute from `axis.first` on: [requests/s, p95 ms, errors %]; None: not scraped."""
    users: tuple[float | None, ...]
    """Percent of service that users lose, in the same minutes."""
    alerts: tuple[AlertLife, ...]
    changes: tuple[Change, ...]
    """In order of asking."""
    papers: tuple[Paper, ...]
    documents: tuple[Document, ...]


# -- the truth: cause, guilt, grades, points, and what was best --------------------------------------------


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of the episode in one line."""

    safe: str
    """Without a word of truth, such as "Closed in turn 12, score 0.31"."""
    full: str
    """With it: where it was won or lost, and who did it."""
    tone: Tone
    turns: tuple[int, ...]
    """Turns that decided it, the gravest first."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The grade of one turn."""

    turn: int
    points: float
    """Points of the turn."""
    total: float
    """Points up to its end."""
    value: float | None
    """Best total that was still within reach after it; None where it was not worked out."""
    loss: float
    """What it cost of the best total within reach; without a value, what it cost in points."""
    grade: Grade
    best: str | None
    """The oracle's act in its place, as a call; None if it is the same or there is none."""
    why: str | None
    """One sentence, for acts that are not good."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that had to be read, and what it is good for."""

    id: str
    text: str
    """What a reading of it says, short."""
    role: Literal["hit", "breach", "decoy", "clears", "answer"]
    """It shows the cause | the broken rule | a suspect | that a suspect is innocent | (logs, tickets) the answer."""
    proof: bool
    """Whether the case cannot be proved without it."""


@dataclass(frozen=True, slots=True)
class Learned:
    """When a seat came to know a fact."""

    fact: str
    seat: str
    turn: int
    how: Literal["read", "told"]
    """By a reading of its own, or by another's that was passed on to it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """When the proof was on the table. A moment is None if it never came."""

    first: Learned | None
    """The first fact of the proof that anybody read."""
    complete: Learned | None
    """The last fact that was missing, when some seat had read it: from here on the seats together could know."""
    one_head: Learned | None
    """The same for a single seat that knows all of it: from here on it knew."""


@dataclass(frozen=True, slots=True)
class Culprit:
    """A service in trouble and what caused it."""

    service: str
    cause: str
    """The mechanism in words."""
    change: str | None
    """None: no change caused it."""
    who: str | None
    """Who answers for the change."""
    since: int
    """Minute of the axis."""
    text: str
    """One sentence."""


@dataclass(frozen=True, slots=True)
class AgentVerdict:
    """The judgement on an automation agent."""

    agent: str
    label: Literal["rogue", "faulty", "careless", "clean"]
    ground: str | None
    """The rule that it broke."""
    change: str
    harm: float
    """Share of the requests that its change hurts by the handbook, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Part:
    """A component of the points."""

    label: str
    points: float
    turn: int | None
    """The turn in which it was earned; None for sums over turns."""


@dataclass(frozen=True, slots=True)
class OracleCall:
    """What one who is told the truth does."""

    turn: int
    seat: str
    call: str


@dataclass(frozen=True, slots=True)
class Check:
    """logs, tickets: one part of the answer against the rules."""

    label: str
    given: str
    right: str
    good: bool


@dataclass(frozen=True, slots=True)
class Truth:
    """What nobody may know before the end."""

    scenario: str
    tier: str
    split: str
    seed: int
    """Index within the split."""
    title: str
    """The scenario in words."""
    story: str
    verdict: Verdict
    total: float
    score: float
    """0 is doing nothing, 1 the oracle."""
    noop: float
    oracle: float
    marks: tuple[Mark, ...]
    parts: tuple[Part, ...]
    culprits: tuple[Culprit, ...]
    agents: tuple[AgentVerdict, ...]
    facts: tuple[Fact, ...]
    learned: tuple[Learned, ...]
    evidence: Evidence
    checks: tuple[Check, ...]
    debrief: tuple[str, ...]
    line: tuple[OracleCall, ...]
    """The oracle's calls that are more than waiting."""
    outcome: dict[str, Scalar]
    notes: tuple[str, ...]
    """What is missing and why, such as values that were not worked out."""


# -- a run ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """An episode on the landing page. All but the first six fields are truth."""

    id: str
    incident: str
    name: str
    run: int
    """Index into `runs`."""
    policy: str
    attempt: int
    env: Environment
    scenario: str
    title: str
    """The scenario in words."""
    tier: str
    split: str
    seed: int
    turns: int
    total: float
    score: float
    solved: bool
    caught: bool | None
    """Whether the rogue was suspended; None where there is none, or no such thing."""
    ground: bool | None
    """Whether it was suspended on the right ground."""
    innocents: int
    """Innocent agents that were suspended."""
    blunders: int | None
    """None where values were not worked out."""
    mistakes: int | None
    safe: str
    """The verdict line without truth."""
    verdict: str
    points: dict[str, float]
    """Points by term of the rubric."""


@dataclass(frozen=True, slots=True)
class RunHead:
    """Where episodes come from."""

    name: str
    command: str
    warroom: str
    """Version that played it."""
    started: str
    report: str | None
    """Address of its report beside the page, if there is one."""


@dataclass(frozen=True, slots=True)
class RunIndex:
    """The landing page: all that it needs without unpacking an episode."""

    contract: int
    runs: tuple[RunHead, ...]
    notes: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """Every word that was said or shown, and the episodes that hold it."""

    words: str
    """In alphabetical order, lower case, one blank between two."""
    rows: str
    """For each word, in the same order, parted by ";": the rows that hold it as base-36 numbers parted by ",", each
    the distance to the one before; the first counts from row 0. A "-" before them: all rows but these."""
