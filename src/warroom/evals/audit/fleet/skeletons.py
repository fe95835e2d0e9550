"""What is left of an incident without names, numbers and times: two incidents with one skeleton are one puzzle."""

from typing import NamedTuple

from warroom.sim.casting import Casting, Dossier
from warroom.sim.records import Change, Ground


class CandidateSkeleton(NamedTuple):
    """What one candidate is, and what its papers and its state say."""

    family: str
    part: str
    conditions: tuple[tuple[str, str], ...]
    """Attribute and operator of each condition of its target."""
    edits: int
    cited: bool
    ground: Ground | None
    in_use: bool
    paused: bool
    uptake: str
    row: str
    is_cause: bool


Skeleton = tuple[CandidateSkeleton, ...]


def skeleton(casting: Casting) -> Skeleton:
    """The skeletons of an incident's candidates in the order of asking."""
    return tuple([_of_candidate(casting, dossier) for dossier in casting.dossiers])


def _of_candidate(casting: Casting, dossier: Dossier) -> CandidateSkeleton:
    change = dossier.change
    state = casting.facts.states[change.service]
    uptake = state.uptake(change.id)
    return CandidateSkeleton(
        change.family, change.part, _conditions(change), len(change.other_edits), change.approval is not None,
        dossier.ground, state.part(change.family, change.part).in_use, uptake.hosts < 1, uptake.kind, dossier.row,
        change.id in [site.change for site in casting.sites],
    )  # fmt: skip


def _conditions(change: Change) -> tuple[tuple[str, str], ...]:
    return tuple([(condition.attribute, condition.operator) for condition in change.target.conditions])
