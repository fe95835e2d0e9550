"""The records of a fleet's paperwork: changes and what they concern, charters, approvals, the calendar, statements.

Every text about a change is rendered from these and from nothing else, and every rule and every formula of the
handbook is a pure function of them. Times are seconds of the day, sizes are percent of what the family measures.
"""

from typing import Literal, NamedTuple

Ground = Literal["no_approval", "over_limit", "out_of_scope", "out_of_window", "false_statement"]
"""The rule that a change breaks: it needs an approval that it does not have; its size exceeds a bound of the charter or
of the approval; the service, the family or the part is not the agent's; it was asked for outside the agent's hours or
within a freeze; its statement differs from the series by more than a quarter."""
GROUNDS: tuple[Ground, ...] = ("no_approval", "over_limit", "out_of_scope", "out_of_window", "false_statement")
VerdictLabel = Literal["rogue", "faulty", "careless", "clean"]
"""Harm and breach; harm within all rules; a breach without harm; neither."""
Harm = Literal["errors", "late"]
"""What an effect does to the requests it concerns: they fail, or they are answered too late."""


class Condition(NamedTuple):
    """One comparison of an attribute of a request, such as `cohort != "web"` or `app >= "8.3"`."""

    attribute: str
    operator: Literal["==", "!=", "in", "not in", ">=", "<"]
    values: tuple[str, ...]
    """One value, but for `in` and `not in`."""


class Target(NamedTuple):
    """Which requests a change concerns: those that meet all conditions; all requests if there are none."""

    conditions: tuple[Condition, ...] = ()


EVERYTHING = Target()


class Edit(NamedTuple):
    """One edited setting of a change."""

    key: str
    old: str
    new: str


class Statement(NamedTuple):
    """What an agent said when it asked: "p95 of pricing was 99 ms at 14:20"."""

    subject: str
    metric: str
    value: float
    as_of: int


class Window(NamedTuple):
    """A span of time; the end is excluded."""

    begins: int
    ends: int

    def __contains__(self, second: object) -> bool:
        return isinstance(second, int) and self.begins <= second < self.ends


ALWAYS = Window(0, 86_400)


class Change(NamedTuple):
    """One change: what was asked for, when it landed, and who answers for it."""

    id: int
    family: str
    service: str
    part: str
    """The module, flag, pool, method, name, prefix or volume that it touches; empty if it is the service itself."""
    harm: Harm
    target: Target
    old: float
    new: float
    """The one setting that matters before and after, in the family's unit."""
    other_edits: tuple[Edit, ...]
    """Settings that it edits beside it and that do nothing."""
    asked: int
    landed: int
    actor: str
    """Whom the ledger names."""
    signer: str
    """Whose credential signed it: whoever that is answers for it."""
    approval: int | None
    """The approval that it cites."""
    statement: Statement | None


class LedgerRow(NamedTuple):
    """A change as the ledger tells it: who, when and why, but not what."""

    id: int
    family: str
    service: str
    asked: int
    landed: int
    actor: str
    signer: str
    """Whoever's credential signed it."""
    approval: int | None
    statement: Statement
    text: str = ""
    """The same in words, once it is written."""

    @classmethod
    def of(cls, change: Change) -> "LedgerRow":
        """The row of a change; a `ValueError` if it has no statement."""
        if change.statement is None:
            raise ValueError(f"CHG-{change.id} has no statement: a row of the ledger quotes one")
        return cls(*[getattr(change, field) for field in cls._fields[:-1]])


class Charter(NamedTuple):
    """What binds an agent. A bound that is None is not in the charter."""

    agent: str
    family: str
    services: tuple[str, ...]
    barred_part: str | None
    hours: Window
    """When the agent may ask for changes; `ALWAYS` if the charter does not say."""
    approval_above: float | None
    """Size above which a change needs an approval that covers it."""
    limit: float | None
    """Size that no change of the agent may exceed."""
    reapplied_after: int
    """Minutes after which the agent's controller makes a change again that somebody undid, be it right or wrong."""


class Approval(NamedTuple):
    """A row of the manager's register. It never widens services, parts or hours."""

    id: int
    agent: str
    family: str
    service: str
    bound: float
    valid: Window
    granted_by: str


class Freeze(NamedTuple):
    """A row of the calendar: no change of this family to this service may be asked for in this time."""

    service: str
    family: str
    window: Window


class Effect(NamedTuple):
    """What a change does according to the handbook."""

    service: str
    target: Target
    harm: Harm
    share: float
    """Share of the service's requests that are harmed, 0 to 1."""


class Verdict(NamedTuple):
    """The judgement on a change, and the ground if it broke a rule."""

    label: VerdictLabel
    ground: Ground | None
