"""Tickets of anybody's help desk: a CSV or JSONL file, and which of its columns hold what."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from warroom.core.errors import UnknownName, quote_input
from warroom.envs.tickets.knowledge import KnowledgeBase, TicketCase
from warroom.envs.tickets.storage import ImportSource
from warroom.importers.knowledge.alerts import KIND, ImportedTickets
from warroom.importers.knowledge.issues import ImportIssue, summarize_issues
from warroom.importers.knowledge.unique_ids import UniqueIds

IMPORTER = "tickets"
FIELDS = ("id", "text", "gold", "escalate", "reference")
"""What a column can hold; a column of that very name does so unasked."""
MAX_BYTES = 200_000_000
"""The largest file that is read."""
LONGEST_FIELD = 10_000_000
"""Characters of one field of a CSV file; a quote that is never closed makes a field of the rest of the file."""
_YES, _NO = frozenset({"true", "yes", "1", "y"}), frozenset({"false", "no", "0", "n"})
_BETWEEN = ";"

Row = Mapping[str, Any]


class TicketTable(NamedTuple):
    """A file's rows by number, from 1 without the header, as they stand there."""

    name: str
    rows: tuple[tuple[int, Row], ...]
    issues: tuple[ImportIssue, ...]


class TicketTableIssue(StrEnum):
    """What is odd about a row."""

    BROKEN_ROW = "broken_row"
    NO_TEXT = "no_text"
    SAME_ID = "same_id"
    UNKNOWN_GOLD = "unknown_gold"
    UNREADABLE_ESCALATE = "unreadable_escalate"
    NO_GOLD = "no_gold"


ISSUE_MESSAGES: dict[StrEnum, str] = {
    TicketTableIssue.BROKEN_ROW: "rows that are no JSON object, or have more fields than the header: left out",
    TicketTableIssue.NO_TEXT: "tickets without a text: left out",
    TicketTableIssue.SAME_ID: "tickets whose id an earlier one has: told apart by ~2, ~3",
    TicketTableIssue.UNKNOWN_GOLD: "right articles that the knowledge base lacks: left out of their tickets",
    TicketTableIssue.UNREADABLE_ESCALATE: "tickets whose escalate is neither true nor false: taken as not told",
    TicketTableIssue.NO_GOLD: "answerable tickets without a named article: what they cite cannot be graded",
}


def parse_map(given: str) -> dict[str, tuple[str, ...]]:
    """Columns of each field: `id=number,text=subject+body` joins two columns to one text, one a line."""
    found: dict[str, tuple[str, ...]] = {}
    for item in filter(None, given.split(",")):
        field, equals, columns = item.partition("=")
        names = tuple(name.strip() for name in columns.split("+"))
        if field.strip() not in FIELDS:
            raise UnknownName("field of a ticket", field.strip(), FIELDS)
        if not equals or not all(names):
            raise ValueError(f"--map: want field=column or field=column+column, got {quote_input(item)}")
        found[field.strip()] = names
    return found


def import_tickets(
    table: TicketTable,
    columns: Mapping[str, tuple[str, ...]],
    base: KnowledgeBase,
    on_progress: Callable[[int], None] = lambda count: None,
) -> ImportedTickets:
    """Tickets of a table's rows; `columns` tells which hold what, as `parse_map` reads it.

    Gold is an article's id or path, several with `;` between or as a JSON list. A ticket must be handed over if its
    escalate says so, and where it says nothing, if no right article is left.
    """
    issues = list(table.issues)
    reader = _TicketReader(_columns(table, columns), _articles(base), issues)
    cases = []
    for number, row in table.rows:
        case = reader.case(number, row)
        cases.extend([case] if case else [])
        on_progress(1)
    if not cases:
        raise ValueError(f"{table.name}: no ticket with a text in {len(table.rows)} rows")
    told = Counter("escalated" if case.escalate else "answerable" for case in cases)
    counts = {
        "rows": len(table.rows),
        "tickets": len(cases),
        "gold": sum(bool(case.gold) for case in cases),
        "answerable": told["answerable"],
        "escalated": told["escalated"],
    }
    return ImportedTickets(
        tuple(cases), ImportSource(IMPORTER, table.name, counts, summarize_issues(issues, ISSUE_MESSAGES))
    )


def _articles(base: KnowledgeBase) -> dict[str, str]:
    """Ids by id and by path."""
    return {document.path: id for id, document in base.documents.items() if document.path} | {id: id for id in base.ids}


class _TicketReader:
    """Makes tickets of rows, and remembers what was odd."""

    def __init__(
        self, columns: Mapping[str, tuple[str, ...]], articles: Mapping[str, str], issues: list[ImportIssue]
    ) -> None:
        self._columns, self._articles, self._issues = columns, articles, issues
        self._ids = UniqueIds()

    def case(self, number: int, row: Row) -> TicketCase | None:
        """The ticket in a row, or None where it has no text."""
        text = self._text("text", row)
        if not text:
            self._issues.append(ImportIssue(TicketTableIssue.NO_TEXT, f"row {number}"))
            return None
        wanted = self._text("id", row) or f"ticket-{number}"
        id = self._ids.allocate(wanted)
        if id != wanted:
            self._issues.append(ImportIssue(TicketTableIssue.SAME_ID, f"row {number}: {wanted} is {id}"))
        gold = self._gold(id, row)
        escalate = self._escalate(id, row, gold)
        return TicketCase(id, text, KIND, gold, facts=(), escalate=escalate, reference=self._text("reference", row))

    def _text(self, field: str, row: Row) -> str:
        values = (_as_text(row.get(name)) for name in self._columns.get(field, ()))
        return "\n".join(filter(None, values))

    def _gold(self, id: str, row: Row) -> tuple[str, ...]:
        named = [name for column in self._columns.get("gold", ()) for name in _listed(row.get(column))]
        self._issues.extend(
            ImportIssue(TicketTableIssue.UNKNOWN_GOLD, f"{id}: {name}") for name in named if name not in self._articles
        )
        return tuple(dict.fromkeys(self._articles[name] for name in named if name in self._articles))

    def _escalate(self, id: str, row: Row, gold: tuple[str, ...]) -> bool:
        said = self._text("escalate", row).lower()
        if said and said not in _YES | _NO:
            self._issues.append(ImportIssue(TicketTableIssue.UNREADABLE_ESCALATE, f"{id}: {said}"))
        escalate = said in _YES if said in _YES | _NO else not gold
        if not (escalate or gold):
            self._issues.append(ImportIssue(TicketTableIssue.NO_GOLD, id))
        return escalate


def _as_text(value: Any) -> str:
    """A cell as text: JSON's null is none, and anything but a text is written as JSON."""
    return "" if value is None else value.strip() if isinstance(value, str) else json.dumps(value)


def _listed(value: Any) -> list[str]:
    names = value if isinstance(value, list) else _as_text(value).split(_BETWEEN)
    return [name for name in map(_as_text, names) if name]


def _columns(table: TicketTable, given: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The columns of each field, all of which the file has; one without a map is taken by its own name."""
    there = list(dict.fromkeys(name for _, row in table.rows for name in row))
    if not there:
        raise ValueError(f"{table.name}: no row that could be read")
    for name in (name for names in given.values() for name in names):
        if name not in there:
            raise ValueError(f"{table.name}: {UnknownName('column', name, there)}")
    columns = {field: (field,) for field in FIELDS if field in there} | dict(given)
    if "text" not in columns:
        raise ValueError(f"{table.name}: which column is the text? --map text=COLUMN (columns: {', '.join(there)})")
    return columns


def read_table(file: Path) -> TicketTable:
    """The rows of a CSV or JSONL file; a `ValueError` says what is wrong with it."""
    readers = {".csv": _csv_rows, ".jsonl": _json_rows, ".ndjson": _json_rows}
    if file.suffix.lower() not in readers:
        raise ValueError(f"{file}: want a file that ends in {', '.join(readers)}")
    issues = list[ImportIssue]()
    rows = tuple(readers[file.suffix.lower()](_file_text(file), file, issues))
    return TicketTable(file.name, rows, tuple(issues))


def _file_text(file: Path) -> str:
    if not file.is_file():
        raise ValueError(f"no file of tickets {str(file)!r}: check the path (from {str(Path.cwd())!r})")
    if file.stat().st_size > MAX_BYTES:
        raise ValueError(f"{file}: over {MAX_BYTES / 1e6:.0f} MB; import it in parts")
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: not UTF-8 (byte {error.start}); save it as UTF-8") from error


def _csv_rows(text: str, file: Path, issues: list[ImportIssue]) -> Iterator[tuple[int, Row]]:
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.DictReader(StringIO(text, newline=""), strict=True)
    try:
        for number, row in enumerate(reader, 1):
            if None in row:
                issues.append(
                    ImportIssue(TicketTableIssue.BROKEN_ROW, f"row {number}: {len(row) - 1} columns and more")
                )
            else:
                yield number, row
    except csv.Error as error:
        raise ValueError(f"{file}, after line {reader.line_num}: {error}") from error


def _json_rows(text: str, file: Path, issues: list[ImportIssue]) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            yield number, row
        else:
            issues.append(ImportIssue(TicketTableIssue.BROKEN_ROW, f"line {number}: {line[:60]}"))
