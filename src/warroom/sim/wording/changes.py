"""The wordings of what a change is and of what it meets: diffs, states of parts, rollouts."""

from collections.abc import Mapping
from typing import NamedTuple, cast

from warroom.sim.records import EVERYTHING, Change, Edit, Harm, Target
from warroom.sim.wording.grammar import FAMILIES, ParsedText, only, readings, write
from warroom.sim.wording.template import Draws

TELLS_HARM = frozenset({"deploy", "toggle"})
"""Families of code: their diffs say what the code does."""


class DiffText(NamedTuple):
    """What a diff tells. Edits that do nothing stand around the one that matters."""

    family: str
    part: str
    target: Target
    old: float
    new: float
    harm: Harm | None
    other_edits: tuple[Edit, ...]

    @classmethod
    def of(cls, change: Change) -> "DiffText":
        """What the diff of a change tells."""
        harm = change.harm if change.family in TELLS_HARM else None
        return cls(change.family, change.part, change.target, change.old, change.new, harm, change.other_edits)


class PartFact(NamedTuple):
    """What is to be told of a part: the number that decides, and whether changes of it do anything (None: always)."""

    family: str
    part: str
    lever: float
    in_use: bool | None


class RolloutText(NamedTuple):
    """On which share of the hosts a change runs, above 0 to 1; below 1 it is paused."""

    change: int
    hosts: float


def write_diff(diff: DiffText, split: str, source: bytes) -> str:
    """A diff: the edit that matters among the others, each on lines of its own."""
    draws = Draws(source)
    edits = [write("edit", split, edit._asdict(), draws) for edit in diff.other_edits]
    values: dict[str, object] = {
        "part": diff.part, "old": diff.old, "new": diff.new, "harm": diff.harm,
        "target": diff.target if diff.target != EVERYTHING else None,
    }  # fmt: skip
    edits.insert(draws.pick(len(edits) + 1), write("diff", split, values, draws, diff.family))
    return "\n".join(edits)


def read_diff(
    text: str, families: tuple[str, ...] = FAMILIES, splits: tuple[str, ...] = ("train", "dev", "test")
) -> DiffText:
    """What a diff tells, the other edits in the order in which it lists them.

    Raises:
        Unreadable: it may mean nothing, or two things.
    """
    lines = text.split("\n")
    found = []
    for split in splits:
        for i in range(len(lines)):
            others = [_edit(line, split) for line in lines[:i]]
            if None in others:
                break
            for j in range(i + 1, min(i + 6, len(lines)) + 1):
                rest = [_edit(line, split) for line in lines[j:]]
                if None not in rest:
                    part = "\n".join(lines[i:j])
                    edits = tuple(cast("list[Edit]", [*others, *rest]))
                    found += [_diff(reading, edits) for reading in readings("diff", part, families, (split,))]
    return only(found, "diff", text)


def _edit(line: str, split: str) -> Edit | None:
    found = {
        Edit(*[str(reading.values[name]) for name in Edit._fields])
        for reading in readings("edit", line, splits=(split,))
    }
    return found.pop() if len(found) == 1 else None


def _diff(reading: ParsedText, edits: tuple[Edit, ...]) -> DiffText:
    values: Mapping[str, object] = reading.values
    target = cast("Target", values.get("target", EVERYTHING))
    old, new = cast("float", values.get("old", 0.0)), cast("float", values["new"])
    return DiffText(
        reading.family, str(values["part"]), target, old, new, cast("Harm | None", values.get("harm")), edits
    )


def write_fact(fact: PartFact, split: str, source: bytes) -> str:
    """What a part carries and whether it is in use."""
    values = {"part": fact.part, "lever": fact.lever, "mode": fact.in_use}
    return write("fact", split, values, Draws(source), fact.family)


def read_fact(text: str, families: tuple[str, ...] = FAMILIES) -> PartFact:
    """What a text tells of a part."""
    found = [
        PartFact(
            r.family, str(r.values["part"]), cast("float", r.values["lever"]), cast("bool | None", r.values.get("mode"))
        )
        for r in readings("fact", text, families)
    ]
    return only(found, "fact", text)


def write_rollout(rollout: RolloutText, split: str, source: bytes) -> str:
    """How far a change has come."""
    if rollout.hosts >= 1:
        return write("rollout_complete", split, {"id": rollout.change}, Draws(source))
    return write("rollout_paused", split, {"id": rollout.change, "hosts": rollout.hosts}, Draws(source))


def read_rollout(text: str) -> RolloutText:
    """How far a change has come according to a text."""
    complete = [RolloutText(cast("int", r.values["id"]), 1.0) for r in readings("rollout_complete", text)]
    paused = [
        RolloutText(cast("int", r.values["id"]), cast("float", r.values["hosts"]))
        for r in readings("rollout_paused", text)
    ]
    return only([*complete, *paused], "rollout", text)
