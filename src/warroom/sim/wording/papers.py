"""The wordings of papers: approvals, freezes, shifts of the calendar, statements, signatures, rows of the ledger.

`write_*` renders a record in a wording that the bytes choose; `read_*` gives back the record, in whichever split's
words it is told, and is for tests and audits.
"""

from collections.abc import Mapping
from typing import NamedTuple, cast

from warroom.sim.records import Approval, Change, Freeze, Statement, Window
from warroom.sim.wording.grammar import FAMILIES, only, readings, write
from warroom.sim.wording.template import Draws
from warroom.sim.wording.values import UNITS, Relation

DAY = 86_400


class SignedBy(NamedTuple):
    """Whose credential signed a change that stands in the ledger in somebody's name."""

    change: int
    actor: str
    signer: str


class LedgerEntry(NamedTuple):
    """What the ledger says of a change. `signer` is whoever's credential signed it."""

    id: int
    family: str
    service: str
    asked: int
    landed: int
    actor: str
    signer: str
    approval: int | None
    statement: Statement

    @classmethod
    def of(cls, change: Change) -> "LedgerEntry":
        """The row of a change; a `ValueError` if it has no statement."""
        if change.statement is None:
            raise ValueError(f"CHG-{change.id} has no statement: a row of the ledger quotes one")
        return cls(*[getattr(change, field) for field in cls._fields])


class NamedHours(NamedTuple):
    """Hours that the calendar defines under a name."""

    name: str
    window: Window


def span(window: Window) -> dict[str, object]:
    """The slots of a span of time.

    Raises:
        ValueError: it is empty or leaves the day.
    """
    if not 0 <= window.begins < window.ends <= DAY:
        raise ValueError(f"a span must begin before it ends, within 0 to {DAY} seconds of the day; got {window}")
    return {"begins": window.begins, "ends": window.ends, "length": window.ends - window.begins}


def window_of(values: Mapping[str, object]) -> Window | None:
    """The span of time that two of begin, end and length give; None if they contradict one another."""
    begins, ends, length = (cast("int | None", values.get(name)) for name in ("begins", "ends", "length"))
    if begins is None and ends is not None and length is not None:
        return Window(ends - length, ends)
    if begins is None or (ends is None and length is None):
        return None
    end = ends if ends is not None else begins + cast("int", length)
    return Window(begins, end) if length is None or begins + length == end else None


def write_approval(approval: Approval, split: str, source: bytes, bounds: Mapping[int, float] | None = None) -> str:
    """A row of the register; `bounds` names one other approval, by number, by which its bound may be told."""
    values: dict[str, object] = {
        "id": approval.id, "agent": approval.agent, "service": approval.service, "by": approval.granted_by,
        **span(approval.valid),
    }  # fmt: skip
    if not bounds:
        return write("approval", split, {**values, "bound": approval.bound}, Draws(source), approval.family)
    other, bound = next(iter(bounds.items()))
    values["related"] = Relation.between(f"APR-{other}", bound, approval.bound)
    return write("approval_reference", split, values, Draws(source), approval.family)


def read_approval(
    text: str, bounds: Mapping[int, float] | None = None, families: tuple[str, ...] = FAMILIES
) -> Approval:
    """The approval that a row tells; `bounds` are those of approvals that it may refer to."""
    found = [_approval(reading.values, reading.family, bounds or {}) for kind in ("approval", "approval_reference")
             for reading in readings(kind, text, families)]  # fmt: skip
    return only([approval for approval in found if approval], "approval", text)


def _approval(values: Mapping[str, object], family: str, bounds: Mapping[int, float]) -> Approval | None:
    valid, bound, related = window_of(values), values.get("bound"), values.get("related")
    if isinstance(related, Relation):
        theirs = bounds.get(int(related.other.removeprefix("APR-"))) if related.other.startswith("APR-") else None
        bound = None if theirs is None else related.bound(theirs)
    if valid is None or bound is None:
        return None
    number, agent, service, by = (values[name] for name in ("id", "agent", "service", "by"))
    return Approval(cast("int", number), str(agent), family, str(service), cast("float", bound), valid, str(by))


def write_freeze(freeze: Freeze, split: str, source: bytes) -> str:
    """An entry of the calendar."""
    return write("freeze", split, {"service": freeze.service, **span(freeze.window)}, Draws(source), freeze.family)


def read_freeze(text: str) -> Freeze:
    """The freeze that an entry of the calendar tells."""
    found = [(reading, window_of(reading.values)) for reading in readings("freeze", text)]
    return only([Freeze(str(r.values["service"]), r.family, w) for r, w in found if w], "freeze", text)


def write_named_hours(shift: NamedHours, split: str, source: bytes) -> str:
    """The line of the calendar that defines hours."""
    return write("shift", split, {"named": shift.name, **span(shift.window)}, Draws(source))


def read_named_hours(text: str) -> NamedHours:
    """The hours that a line of the calendar defines."""
    found = [(reading.values, window_of(reading.values)) for reading in readings("shift", text)]
    return only([NamedHours(str(values["named"]), window) for values, window in found if window], "shift", text)


def write_statement(statement: Statement, split: str, source: bytes) -> str:
    """What an agent said, as it said it."""
    return _write_statement(statement, split, Draws(source))


def _write_statement(statement: Statement, split: str, draws: Draws) -> str:
    return write("statement", split, {**statement._asdict(), "unit": UNITS.get(statement.metric)}, draws)


def read_statement(text: str) -> Statement:
    """The statement that a text makes."""
    return only([_statement(reading.values) for reading in readings("statement", text)], "statement", text)


def _statement(values: Mapping[str, object]) -> Statement:
    subject, metric, value, as_of = (values[name] for name in Statement._fields)
    return Statement(str(subject), str(metric), cast("float", value), cast("int", as_of))


def write_ledger_row(row: LedgerEntry, split: str, page: bytes, source: bytes) -> str:
    """A row of the ledger; the bytes of the page choose its layout, those of the row the wording of the statement."""
    values: dict[str, object] = {
        **row._asdict(), "cited": row.approval or 0, "signer": row.signer if row.signer != row.actor else None,
        "statement": write_statement(row.statement, split, source),
    }  # fmt: skip
    return write("ledger", split, values, Draws(page))


def read_ledger_row(text: str) -> LedgerEntry:
    """The row that a line of the ledger tells."""
    found = [_ledger_row(reading.values) for reading in readings("ledger", text)]
    return only(found, "ledger", text)


def _ledger_row(values: Mapping[str, object]) -> LedgerEntry:
    statement = read_statement(str(values["statement"]))
    rest = {**values, "signer": values.get("signer") or values["actor"], "approval": values["cited"] or None}
    return LedgerEntry._make([*(rest[field] for field in LedgerEntry._fields[:-1]), statement])


def write_signature(signed: SignedBy, split: str, source: bytes) -> str:
    """Who signed a change, told alike whether or not it is the one who stands in the ledger."""
    values = {"id": signed.change, "actor": signed.actor, "signer": signed.signer}
    return write("signature", split, values, Draws(source))


def read_signature(text: str) -> SignedBy:
    """Whose signature a text tells."""
    found = [reading.values for reading in readings("signature", text)]
    return only([SignedBy(cast("int", v["id"]), str(v["actor"]), str(v["signer"])) for v in found], "signature", text)
