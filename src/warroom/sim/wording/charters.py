"""The wording of charters: clauses in any order, as sentences or as lines, with defined terms and references."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from warroom.sim.records import ALWAYS, Charter, Window
from warroom.sim.wording.grammar import FAMILIES, ParsedText, only, readings, segments, write
from warroom.sim.wording.papers import span, window_of
from warroom.sim.wording.template import Draws
from warroom.sim.wording.values import Relation

_LONGEST = 4
"""Most sentences or lines of one clause."""
UNKNOWN = -1.0
_SENTENCE_ENDS = (".", "?", "!")


class CharterContext(NamedTuple):
    """What a charter may refer to. Nothing: every clause stands for itself."""

    others: tuple[str, ...] = ()
    """Services that a charter may name to say that they are not on its list."""
    term: str | None = None
    """A term that this charter defines for its services."""
    shift: str | None = None
    """The name under which the calendar has this charter's hours."""
    neighbour: str | None = None
    """An agent by whose limit this charter's limit is told."""
    shifts: Mapping[str, Window] = {}
    limits: Mapping[str, float] = {}
    """Limits of agents whose charters tell them without reference to others."""

    def related_limit(self, charter: Charter) -> Relation | None:
        """How a charter tells its limit by that of the neighbour; None if it does not."""
        if self.neighbour is None or charter.limit is None:
            return None
        return Relation.between(self.neighbour, self.limits[self.neighbour], charter.limit)


ALONE = CharterContext()


def write_charter(charter: Charter, split: str, source: bytes, around: CharterContext = ALONE) -> str:
    """A charter of three to six sentences in a wording that the bytes choose."""
    draws = Draws(source)
    clauses = [_clause(kind, charter, split, draws, around) for kind in _kinds(charter, around)]
    for last in range(len(clauses) - 1, 0, -1):
        k = draws.pick(last + 1)
        clauses[last], clauses[k] = clauses[k], clauses[last]
    sentences = all(text.endswith(_SENTENCE_ENDS) and "\n" not in text for text in clauses)
    text = (" " if sentences else "\n").join(clauses)
    return write("charter", split, {"agent": charter.agent, "clauses" if sentences else "lines": text}, draws)


def _kinds(charter: Charter, around: CharterContext) -> list[str]:
    kinds = ["permission", "reapplied"]
    if charter.hours != ALWAYS:
        kinds.append("hours_reference" if around.shift else "hours")
    if charter.approval_above is not None:
        kinds.append("threshold")
    if charter.limit is not None:
        kinds.append("limit_reference" if around.neighbour else "limit")
    return [*kinds, "definition"] if around.term else kinds


def _clause(kind: str, charter: Charter, split: str, draws: Draws, around: CharterContext) -> str:
    values = _values(kind, charter, draws, around)
    family = charter.family if kind in ("permission", "threshold", "limit", "limit_reference") else ""
    return write(kind, split, {"agent": charter.agent, **values}, draws, family)


def _values(kind: str, charter: Charter, draws: Draws, around: CharterContext) -> dict[str, object]:
    if kind == "permission":
        others = [name for name in around.others if name not in charter.services]
        return {
            "services": (around.term,) if around.term else charter.services, "barred": charter.barred_part,
            "other": others[draws.pick(len(others))] if others else None,
        }  # fmt: skip
    if kind == "limit_reference":
        return {"related": around.related_limit(charter)}
    told: dict[str, dict[str, object]] = {
        "hours": span(charter.hours),
        "hours_reference": {"named": around.shift},
        "threshold": {"bound": charter.approval_above},
        "limit": {"bound": charter.limit},
        "reapplied": {"after": 60 * charter.reapplied_after},
        "definition": {"term": around.term, "services": charter.services},
    }
    return told[kind]


def read_charter(
    text: str, around: CharterContext = ALONE, families: Mapping[str, str] | None = None, *, split: str | None = None
) -> Charter:
    """The charter that a text tells; `families` is the family of each agent, if known.

    Raises:
        Unreadable: it may mean nothing, or two things.
    """
    splits = (split,) if split else ("train", "dev", "test")
    found = []
    for heading in readings("charter", text, splits=splits):
        agent = str(heading.values["agent"])
        words = (families[agent],) if families and agent in families else FAMILIES
        body = str(heading.values.get("clauses") or heading.values.get("lines"))
        pieces = body.split("\n") if "lines" in heading.values else re.split(r"(?<=[.?!]) ", body)
        glue = "\n" if "lines" in heading.values else " "
        found += [
            c for split in splits for family in words for c in _charters(agent, pieces, glue, (family, split, around))
        ]
    return only(found, "charter", text)


_CLAUSES = (
    "permission", "hours", "hours_reference", "threshold", "limit", "limit_reference", "definition", "reapplied",
)  # fmt: skip


class _Clause(NamedTuple):
    kind: str
    values: dict[str, object]


def _charters(agent: str, pieces: list[str], glue: str, words: tuple[str, str, CharterContext]) -> Iterator[Charter]:
    """Every charter that a run of sentences may be, in the words of one family and split."""
    family, split, around = words
    told: dict[tuple[int, int], list[_Clause]] = {}
    for i, j in segments(pieces, _LONGEST):
        part = glue.join(pieces[i:j])
        told[i, j] = [
            _Clause(kind, reading.values)
            for kind in _CLAUSES
            for reading in _read_clause(kind, part, family, split)
            if reading.values.get("agent", agent) == agent
        ]
    for clauses in _covers(told, 0, len(pieces)):
        charter = _assemble(agent, family, clauses, around)
        if charter:
            yield charter


def _read_clause(kind: str, text: str, family: str, split: str) -> list[ParsedText]:
    return readings(kind, text, (family,), (split,))


def _covers(told: Mapping[tuple[int, int], list[_Clause]], start: int, end: int) -> Iterator[list[_Clause]]:
    """Every way of reading all pieces from `start` on as clauses."""
    if start == end:
        yield []
    for (i, j), clauses in told.items():
        if i == start:
            for clause in clauses:
                for rest in _covers(told, j, end):
                    yield [clause, *rest]


def _assemble(agent: str, family: str, clauses: list[_Clause], around: CharterContext) -> Charter | None:
    """The charter of these clauses; None if one is missing, there twice, or refers to nothing."""
    by_kind = {clause.kind.removesuffix("_reference"): clause for clause in clauses}
    if len(by_kind) != len(clauses) or not {"permission", "reapplied"} <= by_kind.keys():
        return None
    permission, after = by_kind["permission"].values, cast("int", by_kind["reapplied"].values["after"])
    services = cast("tuple[str, ...]", permission["services"])
    if "definition" in by_kind:
        defined = by_kind["definition"].values
        if services != (defined["term"],):
            return None
        services = cast("tuple[str, ...]", defined["services"])
    window = _hours(by_kind.get("hours"), around)
    above, limit = _bound(by_kind.get("threshold"), around.limits), _bound(by_kind.get("limit"), around.limits)
    if window is None or UNKNOWN in (above, limit):
        return None
    return Charter(
        agent, family, services, cast("str | None", permission.get("barred")), window, above, limit, after // 60
    )


def _hours(clause: _Clause | None, around: CharterContext) -> Window | None:
    if clause is None:
        return ALWAYS
    named = clause.values.get("named")
    return window_of(clause.values) if named is None else around.shifts.get(str(named))


def _bound(clause: _Clause | None, limits: Mapping[str, float]) -> float | None:
    """The bound of a clause; `UNKNOWN` if it refers to a limit that is not known."""
    if clause is None:
        return None
    related = clause.values.get("related")
    if isinstance(related, Relation):
        return related.bound(limits[related.other]) if related.other in limits else UNKNOWN
    return cast("float", clause.values["bound"])
