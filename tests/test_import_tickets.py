import json
import time

import pytest

from warroom.envs.tickets.knowledge import ARTICLE, Document, KnowledgeBase, TicketCase
from warroom.importers.knowledge.alerts import ImportedTickets
from warroom.importers.knowledge.tables import TicketTableIssue, import_tickets, parse_map, read_table

PATHS = ("node/NodeDiskFull.md", "redis/README.md")
KNOWLEDGE = KnowledgeBase(
    {path.removesuffix(".md"): Document(path.removesuffix(".md"), ARTICLE, path, "text", path) for path in PATHS}
)


def warned(found: ImportedTickets) -> dict[str, int]:
    return {warning.kind: warning.count for warning in found.source.warnings}


@pytest.fixture
def table(tmp_path):
    """Write a file of tickets and import it."""

    def table(text: str, columns: str = "", name: str = "t.csv") -> ImportedTickets:
        (tmp_path / name).write_text(text)
        return import_tickets(read_table(tmp_path / name), parse_map(columns), KNOWLEDGE)

    return table


def test_columns_of_a_csv_file_become_tickets(table):
    text = (
        "number,subject,body,article,human,answer\n"
        '7,Disk,"It is, full",node/NodeDiskFull.md;redis/README,no,Fix\n'
        "8,Raid,,,,\n"
        "9,Pay,Payroll,redis/README,YES,\n"
    )
    columns = "id=number, text=subject+body, gold=article, escalate=human, reference=answer"
    assert table(text, columns).cases == (
        TicketCase(
            "7", "Disk\nIt is, full", "imported", ("node/NodeDiskFull", "redis/README"), (), False, reference="Fix"
        ),
        TicketCase("8", "Raid", "imported", (), (), True),
        TicketCase("9", "Pay\nPayroll", "imported", ("redis/README",), (), True),
    )


def test_columns_of_the_usual_names_need_no_map(table):
    line = {"id": 3, "text": "Disk", "gold": ["redis/README"], "escalate": False}
    found = table(json.dumps(line) + "\n\n" + json.dumps({"text": "b", "gold": None}), name="t.jsonl")
    assert found.cases == (
        TicketCase("3", "Disk", "imported", ("redis/README",), (), False),
        TicketCase("ticket-3", "b", "imported", (), (), True),
    )


def test_odd_rows_are_counted(table):
    text = "id,text,gold,escalate\n1,,,\n2,a,gone;redis/README,\n2,b,,no\n3,c,,perhaps\n4,d,e,f,g\n5\n"
    found = table(text)
    assert [(case.id, case.gold, case.escalate) for case in found.cases] == [
        ("2", ("redis/README",), False),
        ("2~2", (), False),
        ("3", (), True),
    ]
    assert warned(found) == {
        "broken_row": 1, "no_text": 2, "same_id": 1, "unknown_gold": 1, "unreadable_escalate": 1, "no_gold": 1,
    }  # fmt: skip
    broken = table('{"text": "a"}\nnot json\n[1]\n' + "[" * 100_000, name="t.jsonl")
    assert len(broken.cases) == 1 and warned(broken) == {"broken_row": 3}


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("id,body\n1,x", "text=bodi", "t.csv: no column 'bodi'; did you mean 'body'? (allowed: id, body)"),
        ("id,body\n1,x", "", "which column is the text? --map text=COLUMN (columns: id, body)"),
        ("id,text\n1,x", "txt=id", "no field of a ticket 'txt'; did you mean 'text'?"),
        ("id,text\n1,x", "text", "want field=column or field=column+column, got 'text'"),
        ("id,text\n1,x", "text=a+", "want field=column"),
        ("id,text\n1,", "", "no ticket with a text in 1 rows"),
        ("", "", "no row that could be read"),
        ('text\n"open', "", "after line 1: unexpected end of data"),
    ],
)
def test_a_wrong_file_or_map_says_what_to_mend(table, text, columns, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        table(text, columns)
    assert message in str(caught.value)


def test_a_file_that_is_no_table_is_named(tmp_path):
    (tmp_path / "t.xlsx").write_text("x")
    (tmp_path / "t.csv").write_bytes(b"text\n\xff")
    for name, message in {
        "t.xlsx": "ends in .csv, .jsonl",
        "t.csv": "not UTF-8",
        "u.csv": "no file of tickets",
    }.items():
        with pytest.raises(ValueError, match=message):
            read_table(tmp_path / name)


def test_a_column_that_is_the_same_in_every_row_takes_no_forever(table):
    started = time.process_time()
    found = table("id,text\n" + "".join(f"open,text {row}\n" for row in range(10_000)))
    assert found.cases[-1].id == "open~10000" and warned(found)["same_id"] == 9_999
    assert time.process_time() - started < 5


def test_every_issue_has_a_message():
    assert all(kind.message.strip() for kind in TicketTableIssue)
