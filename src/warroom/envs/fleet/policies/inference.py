"""What follows from what a seat knows: what each change does, which one is the cause, and which rule it broke.

By the handbook and the rules alone: effects from diffs and states, breaches from charters, the register, the calendar
and the series. Names and times decide nothing.
"""

from typing import NamedTuple

from warroom.envs.fleet.metrics_facts import MetricsFacts
from warroom.envs.fleet.policies.knowledge import Knowledge
from warroom.envs.fleet.readings import Content, LedgerRow
from warroom.sim.families import AGENTS, FAMILIES
from warroom.sim.formulas import Terms
from warroom.sim.records import Change, Condition, Ground, Target
from warroom.sim.request_mix import meets
from warroom.sim.rules import breaches

FITS = 0.3
"""Part of what is seen that a change must do by the handbook to be taken for its cause."""
CLOSE_FIT = (0.75, 1.35)
"""What a change does by the handbook, as a multiple of what is seen, within which no other change is looked for."""
SUSPECT_SINCE = 3600
"""Seconds before now from which a change of the place is looked into."""


class Candidate(NamedTuple):
    """A change that may be the cause."""

    id: int
    family: str
    service: str
    row: LedgerRow | None
    """None if the ledger has no row of it."""
    effect: float | None
    """Share of the place's requests that it hurts by the handbook; None while that is not known."""
    confirmed: bool
    """Whether it is known on how many hosts it runs."""


class Conclusion(NamedTuple):
    """What a seat believes."""

    victim: str | None
    candidates: tuple[Candidate, ...]
    cause: Candidate | None
    """The change that did it; None if none fits, or that is not known yet."""
    complete: bool
    """Whether the effect of every candidate is known."""
    close: bool
    """Whether the cause does just what is seen."""

    @property
    def settled(self) -> bool:
        """Whether further diffs could not change the belief."""
        return self.cause is not None and self.cause.confirmed and (self.complete or self.close)

    @property
    def nature(self) -> bool:
        """Whether no change did it."""
        return self.complete and self.cause is None


def conclude(known: Knowledge, victim: str | None) -> Conclusion:
    """The cause among the changes of a place, as far as it can be told."""
    if victim is None or not known.places(victim) & known.records:
        return Conclusion(victim, (), None, False, False)
    found = tuple([_candidate(known, victim, number) for number in suspects(known, victim)])
    rated = [candidate for candidate in found if candidate.effect is not None]
    best = max(rated, key=lambda candidate: candidate.effect or 0.0, default=None)
    seen = known.harmed_share(victim)
    part = (best.effect or 0.0) / seen if best is not None and seen else 0.0
    close = CLOSE_FIT[0] <= part <= CLOSE_FIT[1]
    return Conclusion(victim, found, best if part >= FITS else None, len(rated) == len(found), close)


def suspects(known: Knowledge, victim: str) -> list[int]:
    """Changes of the place, and of caches in front of it, that may do such harm: the youngest first."""
    assert known.page is not None
    rows = [row for row in known.rows.values() if row.service in known.places(victim)]
    ids = {row.id: row.landed for row in rows if row.landed >= known.page.second - SUSPECT_SINCE}
    for arrival in known.arrivals.values():
        if arrival.service in known.places(victim) and arrival.landed >= known.page.second - SUSPECT_SINCE:
            ids[arrival.change] = arrival.landed
    return sorted(ids, key=lambda number: -ids[number])


def _candidate(known: Knowledge, victim: str, number: int) -> Candidate:
    row, arrival, content = known.rows.get(number), known.arrivals.get(number), known.contents.get(number)
    about = row or arrival
    assert about is not None
    effect = None
    if content is not None:
        effect = effect_of(known, content, victim)
    elif arrival is not None and not arrival.in_force:
        effect = 0.0
    return Candidate(number, about.family, about.service, row, effect, arrival is not None)


def effect_of(known: Knowledge, content: Content, victim: str) -> float | None:
    """Share of the place's requests that a change hurts by the handbook; None while a number is missing."""
    own, harmed = known.metrics.get(content.service), known.metrics.get(victim)
    if own is None or harmed is None:
        return None
    part = next((p for p in own.parts if (p.family, p.part) == (content.family, content.part)), None)
    if part is None:
        return None
    arrival = known.arrivals.get(content.id)
    hosts = 1.0 if arrival is None else arrival.hosts
    if not part.in_use:
        return 0.0
    headroom = (harmed.capacity or harmed.load) / harmed.load if harmed.load else 1.0
    terms = Terms(
        content.old, content.new, share_of(own, content.target), harmed.load, headroom,
        own.load if own is not harmed else 0.0,
    )  # fmt: skip
    return hosts * FAMILIES[content.family].formula.predict(terms, part.lever)


def share_of(facts: MetricsFacts, target: Target) -> float:
    """Share of a service's requests that a target concerns, from what its metrics show: attributes are multiplied."""
    share = 1.0
    for attribute, rows in facts.breakdowns:
        conditions = [c for c in target.conditions if c.attribute == attribute]
        if conditions and rows:
            share *= sum([row.share / 100 for row in rows if _meets(row.value, conditions)])
    return share


def _meets(value: str, conditions: list[Condition]) -> bool:
    return all(meets(value, condition) for condition in conditions)


# -- guilt ------------------------------------------------------------------------------------------------


class KnownSeries:
    """The series as far as they were read; a `KeyError` where they were not."""

    def __init__(self, known: Knowledge) -> None:
        self.known = known

    def value(self, service: str, metric: str, second: int) -> float:
        """The value at a time."""
        values = self.known.series[service, metric]
        earlier = [at for at in values if at <= second]
        if not earlier or second - max(earlier) >= 300:
            raise KeyError(second)
        return values[max(earlier)]


class Missing(NamedTuple):
    """A reading without which a breach cannot be judged."""

    seat: str
    tool: str
    arguments: tuple[str, ...]


def missing_papers(known: Knowledge, cause: Candidate) -> list[Missing]:
    """What has to be read to judge whether a change broke a rule."""
    row, out = cause.row, []
    if row is None or row.signer not in AGENTS:
        return []
    if row.signer not in known.charters:
        out.append(Missing("oversight", "charter", (row.signer,)))
    if row.service not in known.approvals:
        out.append(Missing("manager", "approvals", (row.service,)))
    if known.calendar is None:
        out.append(Missing("manager", "calendar", ()))
    if not _is_known(known, row):
        out.append(Missing("sre", "metrics", (row.statement.subject, _time(row.statement.as_of))))
    return out


def _is_known(known: Knowledge, row: LedgerRow) -> bool:
    said = row.statement
    try:
        KnownSeries(known).value(said.subject, said.metric, said.as_of)
    except KeyError:
        return False
    return True


def _time(second: int) -> str:
    return f"{second // 3600:02d}:{second // 60 % 60:02d}"


def ground_of(known: Knowledge, cause: Candidate) -> Ground | None:
    """The rule that a change broke, once its papers are known; None if it broke none, or a colleague made it."""
    row, content = cause.row, known.contents[cause.id]
    if row is None or row.signer not in known.charters:
        return None
    arrival = known.arrivals.get(cause.id)
    moved = 0 if arrival is None else arrival.landed - row.landed
    change = Change(
        row.id, row.family, row.service, content.part, content.harm, content.target, content.old, content.new, (),
        row.asked + moved, row.landed + moved, row.actor, row.signer, row.approval, row.statement,
    )  # fmt: skip
    found = breaches(
        change, known.charters[row.signer], known.approvals[row.service], known.calendar or (), KnownSeries(known)
    )
    return found[0] if found else None


def most_effect(known: Knowledge, candidate: Candidate, victim: str) -> float:
    """The most that a change can do, before its diff is read: as far as what its family's parts carry allows it."""
    own = known.metrics.get(candidate.service)
    if own is None or candidate.family not in FAMILIES:
        return 1.0
    family = FAMILIES[candidate.family]
    if candidate.confirmed and known.arrivals[candidate.id].hosts < FITS:
        return 0.0
    parts = [p for p in own.parts if p.family == candidate.family and p.in_use]
    if not parts:
        return 0.0
    if family.old is not None or own is not known.metrics.get(victim):
        return 1.0
    terms = Terms(0.0, 100.0, 1.0, own.load, 1.0, 0.0)
    return max([family.formula.predict(terms, part.lever) for part in parts])
