"""A tree of Markdown files as a knowledge base: every file is an article, or is counted among what was left out."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from warroom.envs.tickets.knowledge import ARTICLE, Document, KnowledgeBase
from warroom.envs.tickets.storage import ImportedKnowledgeBase, ImportSource
from warroom.importers.knowledge import markdown
from warroom.importers.knowledge.issues import ImportIssue, summarize_issues
from warroom.importers.knowledge.unique_ids import UniqueIds

IMPORTER = "runbooks"
SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd"})
"""Ends of Markdown files' names, in lower case."""
MAX_BYTES = 50_000_000
"""The largest file that is read."""


class RunbookIssue(StrEnum):
    """What is odd about a tree."""

    NOT_MARKDOWN = "not_markdown"
    HIDDEN = "hidden"
    TOO_BIG = "too_big"
    UNREADABLE = "unreadable"
    LINK_LOOP = "link_loop"
    LINK_BROKEN = "link_broken"
    LINK_OUTSIDE = "link_outside"
    DUPLICATE_LINK = "link_twice"
    SAME_ID = "same_id"


ISSUE_MESSAGES: dict[StrEnum, str] = {
    RunbookIssue.NOT_MARKDOWN: f"files that are not Markdown (by name: {', '.join(sorted(SUFFIXES))}): left out",
    RunbookIssue.HIDDEN: "files and folders whose name begins with a dot: left out",
    RunbookIssue.TOO_BIG: f"files of over {MAX_BYTES / 1e6:.0f} MB: left out",
    RunbookIssue.UNREADABLE: "files and folders that cannot be read: left out",
    RunbookIssue.LINK_LOOP: "symbolic links that lead back to where they lie: left out",
    RunbookIssue.LINK_BROKEN: "symbolic links that lead nowhere: left out",
    RunbookIssue.LINK_OUTSIDE: "symbolic links that lead out of the folder: left out; import the place they lead to",
    RunbookIssue.DUPLICATE_LINK: "symbolic links to what is read at its own place: left out",
    RunbookIssue.SAME_ID: "articles whose id another one has but for upper and lower case: told apart by ~2, ~3",
    **markdown.ISSUE_MESSAGES,
}


class RunbookTree(NamedTuple):
    """The Markdown files of a folder, before any is read."""

    root: Path
    paths: tuple[PurePosixPath, ...]
    """Relative to the folder, sorted."""
    issues: tuple[ImportIssue, ...]


def find_runbooks(folder: Path) -> RunbookTree:
    """Find the Markdown files; a `ValueError` says why there are none."""
    if not folder.is_dir():
        raise ValueError(f"no folder {str(folder)!r} to read runbooks from (from {str(Path.cwd())!r})")
    root, issues = folder.resolve(), list[ImportIssue]()
    files, links = _walk(root, issues)
    found = {path for path in files if _is_markdown(root, path, issues)}
    # Links come second: what is reached without one keeps its own place.
    found |= set(_followed(root, links, found, issues))
    if not found:
        raise ValueError(_reason_for_none(folder, issues))
    return RunbookTree(root, tuple(sorted(map(PurePosixPath, found), key=str)), tuple(issues))


def _reason_for_none(folder: Path, issues: Sequence[ImportIssue]) -> str:
    others = sum(issue.kind is RunbookIssue.NOT_MARKDOWN for issue in issues)
    held = f"{others} files, none of which is Markdown" if others else "no file"
    return f"{folder} holds {held}: want files that end in {', '.join(sorted(SUFFIXES))}"


def _walk(root: Path, issues: list[ImportIssue]) -> tuple[list[Path], list[Path]]:
    """All files and all symbolic links below, relative; no link is followed, so this ends."""

    def unreadable(error: OSError) -> None:
        issues.append(ImportIssue(RunbookIssue.UNREADABLE, _shown(Path(str(error.filename)).relative_to(root))))

    files, links = list[Path](), list[Path]()
    for place, folders, names in os.walk(root, onerror=unreadable):
        here = Path(place).relative_to(root)
        for name in sorted((*folders, *names)):
            if name.startswith("."):
                issues.append(ImportIssue(RunbookIssue.HIDDEN, _shown(here / name)))
            elif (root / here / name).is_symlink():
                links.append(here / name)
            elif name in names:
                files.append(here / name)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
    return files, links


def _is_markdown(root: Path, path: Path, issues: list[ImportIssue]) -> bool:
    if path.suffix.lower() not in SUFFIXES:
        issues.append(ImportIssue(RunbookIssue.NOT_MARKDOWN, _shown(path)))
        return False
    if not (root / path).is_file():
        issues.append(ImportIssue(RunbookIssue.UNREADABLE, f"{_shown(path)} (not a regular file)"))
        return False
    return True


def _followed(root: Path, links: Iterable[Path], files: set[Path], issues: list[ImportIssue]) -> Iterator[Path]:
    """The links that lead to Markdown files of the tree which are not read otherwise, such as hidden ones."""
    read = {root / path for path in files}
    for link in links:
        why = _reason_skipped(root, link, read)
        if why:
            issues.append(ImportIssue(why, _shown(link)))
        elif _is_markdown(root, link, issues):
            read.add((root / link).resolve())
            yield link


def _reason_skipped(root: Path, link: Path, read: set[Path]) -> RunbookIssue | None:
    try:
        target = (root / link).resolve(strict=True)
    except FileNotFoundError:
        return RunbookIssue.LINK_BROKEN
    except (OSError, RuntimeError):  # Python 3.13 made an OSError of what was a RuntimeError.
        return RunbookIssue.LINK_LOOP
    if not target.is_relative_to(root):
        return RunbookIssue.LINK_OUTSIDE
    if target.is_dir():
        return RunbookIssue.LINK_LOOP if (root / link).parent.is_relative_to(target) else RunbookIssue.DUPLICATE_LINK
    return RunbookIssue.DUPLICATE_LINK if target in read else None


def _shown(path: Path | PurePosixPath) -> str:
    """A path as text, with a mark for bytes that are no character."""
    return path.as_posix().encode("utf-8", "replace").decode()


def import_runbooks(
    tree: RunbookTree, on_progress: Callable[[int], None] = lambda count: None
) -> ImportedKnowledgeBase:
    """Read the files of a tree; a `ValueError` says so where none holds a text. `watch` hears of each file."""
    issues, documents = list(tree.issues), dict[str, Document]()
    ids = UniqueIds()
    for path in tree.paths:
        document = _document(tree.root, path, ids, issues)
        if document:
            documents[document.id] = document
        on_progress(1)
    warnings = summarize_issues(issues, ISSUE_MESSAGES)
    if not documents:
        reasons = "; ".join(f"{warned.count} {warned.message}" for warned in warnings)
        raise ValueError(f"{tree.root}: no article in {len(tree.paths)} Markdown files: {reasons}")
    counts = {"files": len(tree.paths), "articles": len(documents)}
    return ImportedKnowledgeBase(KnowledgeBase(documents), (ImportSource(IMPORTER, tree.root.name, counts, warnings),))


def _document(root: Path, path: PurePosixPath, ids: UniqueIds, issues: list[ImportIssue]) -> Document | None:
    shown = _shown(path)
    data = _bytes(root / path, shown, issues)
    article = None if data is None else markdown.read_article(data, PurePosixPath(shown).stem, shown, issues)
    if article is None:
        return None
    return Document(_id(shown, ids, issues), ARTICLE, article.title, article.body, path=shown)


def _bytes(file: Path, shown: str, issues: list[ImportIssue]) -> bytes | None:
    try:
        size = file.stat().st_size
        if size <= MAX_BYTES:
            return file.read_bytes()
        issues.append(ImportIssue(RunbookIssue.TOO_BIG, f"{shown} ({size / 1e6:.0f} MB)"))
    except OSError as error:
        issues.append(ImportIssue(RunbookIssue.UNREADABLE, f"{shown} ({error.strerror})"))
    return None


def _id(path: str, ids: UniqueIds, issues: list[ImportIssue]) -> str:
    """The path without its suffix: it stays what it is when other files come and go."""
    plain = path.removesuffix(PurePosixPath(path).suffix)
    id = ids.allocate(plain)
    if id != plain:
        issues.append(ImportIssue(RunbookIssue.SAME_ID, f"{path} is {id}"))
    return id
