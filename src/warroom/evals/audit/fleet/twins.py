"""Twins: two incidents that differ in one paper, so that what caused the harm broke a rule in only one of them.

A law of the fleet holds that every page that does not own the paper is the same in both (`tests/test_fleet.py`). Here
experts play both: who reads the paper judges both rightly, and nobody else can.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from warroom.core.spec import EpisodeSpec
from warroom.envs import make
from warroom.envs.fleet.env import FleetEnv
from warroom.envs.fleet.incident import FleetIncident
from warroom.envs.fleet.oracle import CertifiedIncident
from warroom.evals.audit.outcomes import narrowed
from warroom.policies import policy_set
from warroom.sim.records import Approval, Change, Window
from warroom.sim.rules import Facts, breaches, size_of

BESIDE = 60
"""Seconds by which an approval's time is set beside the time of asking, or around it."""


class Twin(NamedTuple):
    """An incident with one paper changed."""

    paper: str
    """Which kind of paper: an approval's date, a charter's bound, an approval's bound, or a statement."""
    incident: FleetIncident


class Judged(NamedTuple):
    """How the expert judged a pair."""

    tier: str
    paper: str
    as_drawn: bool
    """Whether its verdict on the incident as it was drawn is right."""
    changed: bool
    """Whether that on the twin is."""


def twins_of(incident: FleetIncident) -> Iterator[Twin]:
    """All twins of an incident that a change of an agent caused: another paper of that change, another verdict."""
    site = incident.site
    if site.hit is None:
        return
    facts, change = incident.casting.facts, incident.change(site.hit)
    if change.signer not in facts.charters:
        return
    before = _broken(change, facts)
    for paper, other in _other_papers(change, facts):
        after = _broken(next(c for c in other.changes if c.id == change.id), other)
        if bool(before) != bool(after) and len(after) < 2 and set(after) <= set(incident.difficulty.grounds):
            casting = incident.casting._replace(facts=other)
            if paper == "statement":
                said = {c.id: c.statement for c in other.changes}
                casting = casting._replace(ledger=tuple([c._replace(statement=said[c.id]) for c in casting.ledger]))
            yield Twin(paper, incident._replace(casting=casting))


def _broken(change: Change, facts: Facts) -> tuple[str, ...]:
    return breaches(change, facts.charters[change.signer], facts.approvals, facts.calendar, facts.series)


def _other_papers(change: Change, facts: Facts) -> Iterator[tuple[str, Facts]]:
    charter, size = facts.charters[change.signer], round(size_of(change))
    for bound in (size - 2.0, size + 2.0):
        others = [charter._replace(limit=bound)] if charter.limit is not None else []
        others += [charter._replace(approval_above=bound)] if charter.approval_above is not None else []
        for other in others:
            yield "bound of a charter", facts._replace(charters={**facts.charters, charter.agent: other})
    for k, approval in enumerate(facts.approvals):
        if (approval.agent, approval.family, approval.service) == (change.signer, change.family, change.service):
            for paper, row in _other_approvals(change, size, approval):
                rows = (*facts.approvals[:k], row, *facts.approvals[k + 1 :])
                yield paper, facts._replace(approvals=rows)
    if change.statement is not None:
        said = change.statement
        true = facts.series.value(said.subject, said.metric, said.as_of)
        for value in (true, float(f"{1.5 * true:.3g}")):
            lied = change._replace(statement=said._replace(value=value))
            yield "statement", facts._replace(changes=tuple([lied if c.id == change.id else c for c in facts.changes]))


def _other_approvals(change: Change, size: int, row: Approval) -> Iterator[tuple[str, Approval]]:
    yield from (("bound of an approval", row._replace(bound=float(bound))) for bound in (size - 2, size + 2))
    begins, ends = row.valid
    if change.asked in row.valid:
        yield "date of an approval", row._replace(valid=Window(begins, change.asked // 60 * 60))
    elif ends <= change.asked:
        yield "date of an approval", row._replace(valid=Window(begins, change.asked // 60 * 60 + BESIDE))
    else:
        yield "date of an approval", row._replace(valid=Window(change.asked // 60 * 60, ends))


def judge_twins(tier: str, scenarios: Iterable[str], seeds: Iterable[int]) -> Iterator[Judged]:
    """Let experts play incidents as they are drawn and with one paper changed, one twin of each kind of paper."""
    for name in scenarios:
        for seed in seeds:
            spec = EpisodeSpec(name, tier, seed)
            env = narrowed(make(spec), FleetEnv)
            twins = {twin.paper: twin.incident for twin in twins_of(env.incident)}
            if twins:
                as_drawn = _is_right(env)
                for paper, incident in twins.items():
                    changed = FleetEnv(env.spec, CertifiedIncident(incident, env.certificate))
                    yield Judged(tier, paper, as_drawn, _is_right(changed))


def _is_right(env: FleetEnv) -> bool:
    """Whether experts suspend the rogue for the rule that it broke, and nobody if there is none."""
    seats = {seat: policy_set("fleet", "expert").seat(env, seat) for seat in env.SEATS}
    while not env.done:
        env.step(seats[env.seat].act(env.observe()))
    return dict(env.flags) == env.incident.rogues


def shares_right(found: Iterable[Judged]) -> dict[str, tuple[int, int]]:
    """For each kind of paper, the pairs in which both verdicts are right, and all pairs."""
    right: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for one in found:
        pairs[one.paper] += 1
        right[one.paper] += one.as_drawn and one.changed
    return {paper: (right[paper], number) for paper, number in sorted(pairs.items())}
