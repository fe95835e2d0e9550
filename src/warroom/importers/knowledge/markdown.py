"""One Markdown file as an article: front matter off, a title found, the text as it was written."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from warroom.importers.knowledge.issues import ImportIssue
from warroom.importers.knowledge.yaml_texts import load_texts

LONGEST_TITLE = 200
"""Characters of a title; a longer one is cut, and a heading stays whole in the text."""
LONGEST_FRONT_MATTER = 50_000
"""Characters of front matter that are parsed. Real ones have a few hundred; YAML takes a second for a megabyte."""
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*)")
_UNDERLINE = re.compile(r" {0,3}(?:={2,}|-{2,})[ \t]*")
_FENCE = re.compile(r" {0,3}(```|~~~)")


class ArticleIssue(StrEnum):
    """What is odd about the content of a file."""

    EMPTY = "empty"
    BINARY = "binary"
    NOT_UTF8 = "not_utf8"
    BROKEN_FRONT_MATTER = "broken_front_matter"
    LONG_TITLE = "long_title"


ISSUE_MESSAGES: dict[StrEnum, str] = {
    ArticleIssue.EMPTY: "files without a text of their own, such as section indexes: left out",
    ArticleIssue.BINARY: "files with zero bytes, which no text in UTF-8 has: left out",
    ArticleIssue.NOT_UTF8: "files that are not UTF-8: kept, with a mark in place of what could not be read",
    ArticleIssue.BROKEN_FRONT_MATTER: "files whose front matter is no YAML mapping: kept, front matter included",
    ArticleIssue.LONG_TITLE: f"titles of over {LONGEST_TITLE} characters: cut",
}


class Article(NamedTuple):
    """What a reader sees of a file."""

    title: str
    body: str
    """All text that follows the front matter, but for a first line that is the title. Line ends are `\\n`."""


class _Heading(NamedTuple):
    """The first heading, and the lines that it takes up."""

    text: str
    first: int
    after: int


def read_article(data: bytes, name: str, path: str, issues: list[ImportIssue]) -> Article | None:
    """The article in a file's bytes, or None where there is none; `name` is its title if it has no other.

    Adds what is odd to `met`, with `path` as the example. The text is data: nothing in it is evaluated.
    """
    if b"\0" in data:
        issues.append(ImportIssue(ArticleIssue.BINARY, path))
        return None
    front, text = _without_front_matter(_decoded(data, path, issues), path, issues)
    if not text.strip():
        issues.append(ImportIssue(ArticleIssue.EMPTY, path))
        return None
    return _titled(front, text, name, path, issues)


def _decoded(data: bytes, path: str, issues: list[ImportIssue]) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        issues.append(ImportIssue(ArticleIssue.NOT_UTF8, f"{path} (byte {error.start})"))
        text = data.decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _without_front_matter(text: str, path: str, issues: list[ImportIssue]) -> tuple[dict[str, Any], str]:
    """The front matter as a mapping of texts, and the rest. A rule `---` that nothing closes begins no front matter."""
    opening, _, after = text.partition("\n")
    front, rest = _cut_at_rule(after) if opening.rstrip() == "---" else (None, "")
    if front is None:
        return {}, text
    try:
        return _mapping(front), rest
    except ValueError as error:
        issues.append(ImportIssue(ArticleIssue.BROKEN_FRONT_MATTER, f"{path}: {error}"))
        return {}, text


def _cut_at_rule(text: str) -> tuple[str | None, str]:
    closing = re.search(r"^(?:---|\.\.\.)[ \t]*$", text, re.MULTILINE)
    return (text[: closing.start()], text[closing.end() :]) if closing else (None, "")


def _mapping(front: str) -> dict[str, Any]:
    if len(front) > LONGEST_FRONT_MATTER:
        raise ValueError(f"{len(front)} characters, at most {LONGEST_FRONT_MATTER} are read")
    found = [document for document in load_texts(front, first_line=2) if document]
    if len(found) > 1 or not all(isinstance(document, dict) for document in found):
        raise ValueError("not a mapping of keys to values")
    return found[0] if found else {}


def _titled(front: dict[str, Any], text: str, name: str, path: str, issues: list[ImportIssue]) -> Article:
    """The title of the front matter, else the first heading, else the file's name."""
    given, lines = front.get("title"), text.split("\n")
    named = isinstance(given, str) and bool(given.strip())
    heading = None if named else _first_heading(lines)
    title = " ".join((heading.text if heading else str(given) if named else name).split())
    if len(title) > LONGEST_TITLE:
        issues.append(ImportIssue(ArticleIssue.LONG_TITLE, path))
        title = f"{title[:LONGEST_TITLE]}..."
    elif heading and not "".join(lines[: heading.first]).strip():
        text = "\n".join(lines[heading.after :])
    return Article(title, text.strip("\n"))


def _first_heading(lines: list[str]) -> _Heading | None:
    """The first line with leading `#`, or that is underlined; not one in a block of code."""
    for number in _outside_fences(lines):
        marked = _HEADING.fullmatch(lines[number])
        if marked and (text := _without_closing(marked[1])):
            return _Heading(text, number, number + 1)
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if _UNDERLINE.fullmatch(below) and _is_paragraph(lines, number):
            return _Heading(lines[number].strip(), number, number + 2)
    return None


def _without_closing(heading: str) -> str:
    """A heading may be closed by as many `#` as one likes, after a blank."""
    heading = heading.rstrip()
    bare = heading.rstrip("#")
    return bare.strip() if not bare or bare[-1] in " \t" else heading


def _is_paragraph(lines: list[str], number: int) -> bool:
    """Whether a line is a paragraph of its own, which may be underlined: no list, table, quote or code."""
    line = lines[number]
    alone = number == 0 or not lines[number - 1].strip()
    return alone and bool(line.strip()) and not line.startswith(("    ", "\t")) and line.lstrip()[0] not in "-*+>|<=#"


def _outside_fences(lines: list[str]) -> Iterator[int]:
    fence = ""
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if found and fence in ("", found[1]):
            fence = "" if fence else found[1]
        elif not fence:
            yield number
