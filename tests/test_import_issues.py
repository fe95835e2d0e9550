from warroom.importers.issues import MAX_EXAMPLE_LENGTH, MAX_EXAMPLES, ImportIssues, IssueKind


class FileIssue(IssueKind):
    EMPTY = "empty", "files without text"
    BROKEN = "broken", "files that cannot be read"


def test_issues_are_counted_by_kind_in_the_order_of_the_kinds() -> None:
    issues = ImportIssues()
    issues.add(FileIssue.BROKEN, "b.md")
    issues.add(FileIssue.EMPTY, "a.md", count=2)
    issues.add(FileIssue.EMPTY, "none.md", count=0)
    found = [(each.kind, each.message, each.count, each.examples) for each in issues.warnings(FileIssue)]
    assert found == [
        ("empty", "files without text", 2, ("a.md",)),
        ("broken", "files that cannot be read", 1, ("b.md",)),
    ]


def test_a_collection_of_issues_keeps_the_first_examples_and_cuts_long_ones() -> None:
    issues, others = ImportIssues(), ImportIssues()
    issues.add(FileIssue.EMPTY, "x" * 1000)
    for number in range(5):
        others.add(FileIssue.EMPTY, str(number))
    issues.update(others)
    (warning,) = issues.warnings(FileIssue)
    assert warning.count == 6 and others.counts[FileIssue.EMPTY] == 5
    assert warning.examples == ("x" * MAX_EXAMPLE_LENGTH + "...", "0", "1") and len(warning.examples) == MAX_EXAMPLES


def test_a_kind_is_found_by_its_name() -> None:
    assert FileIssue("empty") is FileIssue.EMPTY and FileIssue.EMPTY == "empty"
