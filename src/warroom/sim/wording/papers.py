"""The wordings of papers: approvals, freezes, shifts of the calendar, statements, signatures, rows of the ledger.

`write_*` renders a record in a wording that the bytes choose.
"""

from collections.abc import Mapping
from typing import NamedTuple

from warroom.sim.records import Approval, Freeze, LedgerRow, Statement, Window
from warroom.sim.wording.grammar import write
from warroom.sim.wording.template import Draws
from warroom.sim.wording.values import UNITS, Relation

DAY = 86_400


class SignedBy(NamedTuple):
    """Whose credential signed a change that stands in the ledger in somebody's name."""

    change: int
    actor: str
    signer: str


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


def write_freeze(freeze: Freeze, split: str, source: bytes) -> str:
    """An entry of the calendar."""
    return write("freeze", split, {"service": freeze.service, **span(freeze.window)}, Draws(source), freeze.family)


def write_named_hours(shift: NamedHours, split: str, source: bytes) -> str:
    """The line of the calendar that defines hours."""
    return write("shift", split, {"named": shift.name, **span(shift.window)}, Draws(source))


def write_statement(statement: Statement, split: str, source: bytes) -> str:
    """What an agent said, as it said it."""
    return _write_statement(statement, split, Draws(source))


def _write_statement(statement: Statement, split: str, draws: Draws) -> str:
    return write("statement", split, {**statement._asdict(), "unit": UNITS.get(statement.metric)}, draws)


def write_ledger_row(row: LedgerRow, split: str, page: bytes, source: bytes) -> str:
    """A row of the ledger; the bytes of the page choose its layout, those of the row the wording of the statement."""
    values: dict[str, object] = {
        **row._asdict(), "text": None, "cited": row.approval or 0,
        "signer": row.signer if row.signer != row.actor else None,
        "statement": write_statement(row.statement, split, source),
    }  # fmt: skip
    return write("ledger", split, values, Draws(page))


def write_signature(signed: SignedBy, split: str, source: bytes) -> str:
    """Who signed a change, told alike whether or not it is the one who stands in the ledger."""
    values = {"id": signed.change, "actor": signed.actor, "signer": signed.signer}
    return write("signature", split, values, Draws(source))
