"""Kinds of trouble, one table a domain: what people notice, what causes it, what cures it.

Each `.toml` file in this folder is a domain and is found by scan; a new one needs nothing else. Its head comment in
`printing.toml` explains the fields.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from warroom.core.types import JsonObject
from warroom.sim.wording.forms import SPLITS

ACTIONS = (
    "add", "clear", "close", "copy", "disconnect", "export", "install", "move", "pause", "reconnect", "remove",
    "renew", "replace", "reset", "restart", "restore", "resume", "rotate", "unlock", "update", "verify",
)  # fmt: skip
"""What a step of the kind `do` may do; `wording` has the words of each and what the grader takes for the same."""
ROLES = ("manager", "owner", "lead")
"""Whom a step of the kind `ask` may name: the person's manager, the product's owner, the lead of the site."""
SUFFIXES = ("", "", "Plus", "Pro", "S", "Mark II", "Mark III", "XL", "Next", "Compact", "Classic", "Select")
"""What a maker adds to the name of a product."""
EVENTS = ("renewal",)
"""Days that a step of the kind `wait` may count from."""


class StepTemplate(NamedTuple):
    """A step of a cause's procedure, before an article draws its options and numbers."""

    kind: str
    setting: str = ""
    action: str = ""
    objects: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    unit: str = ""
    base: tuple[int, int] = (0, 0)
    each: tuple[int, int] = (0, 0)
    counted: str = ""
    whole: str = ""


class Cause(NamedTuple):
    """What may be behind a complaint, how it shows, and how it is cured."""

    id: str
    name: Mapping[str, tuple[str, ...]]
    """By split, as articles write it: a clause."""
    clue: Mapping[str, tuple[str, ...]]
    """By split, as the person notices it: a clause that fits this cause of the complaint and no other."""
    finding: Mapping[str, tuple[str, ...]]
    """By split, as articles describe the same: a clause."""
    belief: Mapping[str, tuple[str, ...]]
    """By split, what somebody says who takes this for the cause: a clause."""
    steps: tuple[StepTemplate, ...]


class Complaint(NamedTuple):
    """What people notice first. It fits all of its causes, on every product of the domain."""

    id: str
    plain: Mapping[str, tuple[str, ...]]
    """By split, as people say it: a clause."""
    technical: Mapping[str, tuple[str, ...]]
    """By split, as titles of articles have it: a noun phrase."""
    causes: tuple[Cause, ...]


class FollowUp(NamedTuple):
    """A procedure that some articles end with, and that each site has for itself."""

    name: str
    steps: tuple[StepTemplate, ...]


class Domain(NamedTuple):
    """One table."""

    name: str
    teams: tuple[str, ...]
    """The team that answers for it, and two others that write about it as well."""
    queue: str
    noun: str
    prefix: str
    version: str
    """What its releases are called: firmware, client, build."""
    products: tuple[str, ...]
    nicknames: tuple[str, ...]
    counts: Mapping[str, tuple[int, ...]]
    amounts: Mapping[str, tuple[int, ...]]
    units: Mapping[str, str]
    """The unit of each amount."""
    complaints: tuple[Complaint, ...]
    follow_ups: tuple[FollowUp, ...]


@cache
def domains() -> Mapping[str, Domain]:
    """Every domain by name, in the order of the alphabet.

    Raises:
        ValueError: a table has a field or value that it must not have.
    """
    tables = [path for path in files(__package__).iterdir() if path.name.endswith(".toml")]
    found = [read_domain(tomllib.loads(path.read_text(encoding="utf-8"))) for path in tables]
    return {domain.name: domain for domain in sorted(found, key=lambda domain: domain.name)}


def read_domain(table: JsonObject) -> Domain:
    """A domain from its table."""
    asset = table["asset"]
    return Domain(
        table["name"], tuple(table["teams"]), table["queue"], asset["noun"], asset["prefix"], asset["version"],
        tuple(asset["products"]), tuple(asset["nicknames"]),
        {name: tuple(values) for name, values in asset.get("counts", {}).items()},
        {name: tuple(row["values"]) for name, row in asset.get("amounts", {}).items()},
        {name: row["unit"] for name, row in asset.get("amounts", {}).items()},
        tuple(_complaint(row) for row in table["complaint"]),
        tuple(FollowUp(row["name"], tuple(map(_step, row["steps"]))) for row in table["follow_up"]),
    )  # fmt: skip


def _phrases(row: JsonObject) -> Mapping[str, tuple[str, ...]]:
    missing = [split for split in SPLITS if not row.get(split)]
    if missing or len(row) > len(SPLITS):
        raise ValueError(f"phrases need the splits {', '.join(SPLITS)} and no other, got {', '.join(row)}")
    return {split: tuple(row[split]) for split in SPLITS}


def _complaint(row: JsonObject) -> Complaint:
    causes = tuple(
        Cause(
            each["id"], _phrases(each["name"]), _phrases(each["clue"]), _phrases(each["finding"]),
            _phrases(each["belief"]), tuple(map(_step, each["steps"])),
        )
        for each in row["cause"]
    )  # fmt: skip
    return Complaint(row["id"], _phrases(row["plain"]), _phrases(row["technical"]), causes)


def _step(row: JsonObject) -> StepTemplate:
    unknown = set(row) - set(StepTemplate._fields)
    if unknown:
        raise ValueError(f"a step has no field {sorted(unknown)[0]!r}; it has {', '.join(StepTemplate._fields)}")
    fields: JsonObject = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    return StepTemplate(**fields)


def all_causes() -> Iterator[tuple[Domain, Complaint, Cause]]:
    """Every cause with the complaint and the domain that it belongs to."""
    for domain in domains().values():
        for complaint in domain.complaints:
            for cause in complaint.causes:
                yield domain, complaint, cause
