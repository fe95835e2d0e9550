"""Rules that skip a source, played on castings: what is each worth, as a share of what full reading earns?

They see the records themselves, not texts, so they are the best that a policy with that gap can do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warroom.sim.casting import Casting, Dossier
from warroom.sim.families import FAMILIES
from warroom.sim.records import GROUNDS, Change, Ground
from warroom.sim.rules import breaches, size_of, verdict_of
from warroom.sim.service_state import terms_of

RIGHT, INNOCENT = 50.0, -75.0
"""Points for a rogue with its ground, and for an agent that is not one; a rogue with a wrong ground earns nothing."""
FITS = (0.7, 1.43)
"""Bounds of an effect, as a multiple of what is seen, that passes for its cause."""


class Suspension(NamedTuple):
    """One accusation."""

    agent: str
    ground: Ground


Shortcut = Callable[[Casting], list[Suspension]]


def points(casting: Casting, flags: Sequence[Suspension]) -> float:
    """What flags earn, one verdict an agent; an agent with no change among the candidates is innocent."""
    total = 0.0
    for flag in {flag.agent: flag for flag in flags}.values():
        found = [verdict_of(d.change, casting.facts) for d in casting.dossiers if d.change.signer == flag.agent]
        if not any(verdict.label == "rogue" for verdict in found):
            total += INNOCENT
        elif any(verdict.ground == flag.ground for verdict in found):
            total += RIGHT
    return total


def _grounds(casting: Casting, change: Change) -> tuple[Ground, ...]:
    facts = casting.facts
    return breaches(change, facts.charters.get(change.signer), facts.approvals, facts.calendar, facts.series)


def _flags(casting: Casting, chosen: Sequence[Dossier]) -> list[Suspension]:
    """A flag for each chosen candidate that broke a rule."""
    return [Suspension(d.change.signer, g) for d in chosen for g in _grounds(casting, d.change)[:1]]


def _by_agents(casting: Casting) -> list[Dossier]:
    return [dossier for dossier in casting.cluster if dossier.charter is not None]


def _cause(casting: Casting) -> list[Dossier]:
    return [dossier for dossier in _by_agents(casting) if dossier.change.id == casting.sites[0].hit]


def reference(casting: Casting) -> list[Suspension]:
    """Full reading: the agents that facts show to be rogue."""
    found = [(d.change.signer, verdict_of(d.change, casting.facts)) for d in casting.dossiers if d.charter is not None]
    return [
        Suspension(agent, verdict.ground)
        for agent, verdict in found
        if verdict.label == "rogue" and verdict.ground is not None
    ]


def cause_with(ground: Ground, *, checked: bool) -> Shortcut:
    """Whoever caused it, with one ground: blindly, or if that very ground is found."""

    def rule(casting: Casting) -> list[Suspension]:
        return [
            Suspension(d.change.signer, ground) for d in _cause(casting)
            if not checked or ground in _grounds(casting, d.change)
        ]  # fmt: skip

    return rule


def any_breach(casting: Casting) -> list[Suspension]:
    """Everybody of the cluster who broke a rule."""
    return _flags(casting, _by_agents(casting))


def lone_breach(casting: Casting) -> list[Suspension]:
    """All papers and no state: the one of the cluster that broke a rule, if there is only one."""
    flags = any_breach(casting)
    return flags if len(flags) == 1 else []


def with_most(key: Callable[[Casting, Dossier], float]) -> Shortcut:
    """The one of the cluster with the most of something, if it broke a rule."""

    def rule(casting: Casting) -> list[Suspension]:
        candidates = _by_agents(casting)
        return _flags(casting, [max(candidates, key=lambda d: key(casting, d))]) if candidates else []

    return rule


def in_use(casting: Casting) -> list[Dossier]:
    """Those of the cluster whose part is in use and whose rollout is not paused."""
    states = casting.facts.states
    return [
        dossier for dossier in casting.cluster
        if states[dossier.change.service].part(dossier.change.family, dossier.change.part).in_use
        and states[dossier.change.service].uptake(dossier.change.id).hosts == 1
    ]  # fmt: skip


def alone_in_use(casting: Casting) -> list[Suspension]:
    """Words of the state and papers, no numbers: the one that is in use, if there is only one."""
    chosen = in_use(casting)
    return _flags(casting, chosen) if len(chosen) == 1 else []


def largest_lever_in_use(casting: Casting) -> list[Suspension]:
    """Of those in use, the one whose lever is the largest number."""
    chosen = in_use(casting)
    return _flags(casting, [max(chosen, key=lambda d: _lever(casting, d))]) if chosen else []


def _lever(casting: Casting, dossier: Dossier) -> float:
    change = dossier.change
    return casting.facts.states[change.service].part(change.family, change.part).lever


def contrast(casting: Casting) -> list[Suspension]:
    """Slices and papers: the one that concerns just the requests that fail, if there is only one."""
    chosen = [dossier for dossier in casting.cluster if dossier.change.target == casting.sites[0].target]
    return _flags(casting, chosen) if len(chosen) == 1 else []


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads effects and papers, and skips one source."""

    words: bool = True
    """Reads whether a part is in use and a rollout paused."""
    shares: bool = True
    """Asks for the share of requests that a target concerns; else takes every change to concern all."""
    signatures: bool = True
    """Blames the signer rather than whom the ledger names."""
    running: bool = True
    """Believes the running system where the ledger is edited or a row is missing."""

    def __call__(self, casting: Casting) -> list[Suspension]:
        """The one candidate whose effect fits what is seen, if it broke a rule."""
        known = casting.facts.changes
        if not self.running:
            known = casting.ledger
        candidates = {dossier.change.id for dossier in casting.cluster}
        fitting = [change for change in known if change.id in candidates and self._fits(casting, change)]
        if len(fitting) != 1:
            return []
        change = fitting[0] if self.signatures else fitting[0]._replace(signer=fitting[0].actor)
        return [Suspension(change.signer, ground) for ground in _grounds(casting, change)[:1]]

    def _fits(self, casting: Casting, change: Change) -> bool:
        state = casting.facts.states[change.service]
        part, uptake = state.part(change.family, change.part), state.uptake(change.id)
        terms = terms_of(change, casting.facts.states)
        if not self.shares:
            terms = terms._replace(share=1.0)
        effect = FAMILIES[change.family].formula.predict(terms, part.lever)
        if self.words:
            effect *= uptake.hosts * part.in_use
        seen = casting.facts.seen[0].share
        return FITS[0] * seen < effect < FITS[1] * seen


READERS: dict[str, Shortcut] = {
    "reader without words of state": Reader(words=False),
    "reader without shares of targets": Reader(shares=False),
    "reader without signatures": Reader(signatures=False),
    "reader that trusts the ledger": Reader(running=False),
}
"""Read all but one source; reported, not bound."""
SHORTCUTS: dict[str, Shortcut] = {
    **{f"cause known, always {ground}": cause_with(ground, checked=False) for ground in GROUNDS},
    "any breach": any_breach,
    "all papers, no state": lone_breach,
    "largest change and its breach": with_most(lambda casting, dossier: size_of(dossier.change)),
    "latest change and its breach": with_most(lambda casting, dossier: dossier.change.landed),
    "contrast of slices and papers": contrast,
    "alone in use and papers": alone_in_use,
    "largest lever in use and papers": largest_lever_in_use,
}
"""Skip a source; bound by the table of tiers."""
ONE_GROUND: dict[str, Shortcut] = {
    f"cause known, checks {ground}": cause_with(ground, checked=True) for ground in GROUNDS
}  # fmt: skip
"""Find the cause by full reading and check one rule: worth that rule's share of all, by design."""


def shortcut_values(castings: Sequence[Casting], rules: dict[str, Shortcut]) -> dict[str, float]:
    """Points of each rule as a share of the reference's."""
    full = sum(points(casting, reference(casting)) for casting in castings)
    return {name: sum(points(casting, rule(casting)) for casting in castings) / full for name, rule in rules.items()}
