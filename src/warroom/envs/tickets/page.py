"""The documents that come with a ticket in the single-turn mode: gold and distractors, mixed."""

from collections.abc import Sequence
from random import Random

from warroom.envs.tickets.families import DocumentFamily, TroubleCell, Unit
from warroom.envs.tickets.generate import GeneratedKnowledgeBase


def draw_page(
    rng: Random,
    generated: GeneratedKnowledgeBase,
    family: DocumentFamily,
    cell: TroubleCell,
    *,
    gold: Sequence[str],
    size: int,
) -> tuple[str, ...]:
    """Policies that may decide, then procedures with what belongs to them, as many on each cause of the complaint.

    The cause that most documents are about would give the answer away without a look at the symptom, and so would a
    correction, a rival or a last procedure that only the right one has.
    """
    shown = [policy.id for policy in generated.policies_on(family.subject) if policy.product in ("", cell.product)]
    queues = {cause.id: _queue(rng, family, cell, cause.id, gold) for cause in cell.complaint.causes}
    for unit in _dealt(rng, queues, cell.cause.id, size - len(shown)):
        shown += unit.ids
    if len(shown) < size:
        left = [id for id in generated.policies if id not in shown]
        shown += rng.sample(left, min(size - len(shown), len(left)))
    rng.shuffle(shown)
    return tuple(shown)


def _queue(rng: Random, family: DocumentFamily, cell: TroubleCell, cause: str, gold: Sequence[str]) -> list[Unit]:
    """Procedures on a cause: one in force on the product, which is gold if any is; then others on it; then the rest."""
    cells = [each for each in family.cells if each.cause.id == cause]
    own = [unit for each in cells if each.product == cell.product for unit in each.units]
    others = [unit for each in cells if each.product != cell.product for unit in each.units]
    for units in (own, others):
        rng.shuffle(units)
    own.sort(key=lambda unit: (not set(gold) & set(unit.ids), not unit.counts))
    first, rest = own[:1], own[1:]
    rng.shuffle(rest)
    return [*first, *rest, *others]


def _dealt(rng: Random, queues: dict[str, list[Unit]], first: str, size: int) -> list[Unit]:
    """Units of the first queue and of all in turn, so that each has about as many documents, until no other fits."""
    dealt = list[Unit]()
    counts = {cause: -1 if cause == first else 0 for cause in queues}
    while counts:
        cause = min(counts, key=lambda each: (counts[each], rng.random()))
        unit = next((unit for unit in queues[cause] if len(unit.ids) <= size), None)
        if unit is None:
            del counts[cause]
            continue
        queues[cause].remove(unit)
        counts[cause] = max(counts[cause], 0) + len(unit.ids)
        size -= len(unit.ids)
        dealt.append(unit)
    return dealt
