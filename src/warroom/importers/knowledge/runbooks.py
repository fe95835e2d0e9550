"""A tree of Markdown files as a knowledge base: every file is an article, or is counted among what was left out."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from warroom.envs.tickets.knowledge import ARTICLE, Document, KnowledgeBase
from warroom.envs.tickets.storage import Source, Stored
from warroom.importers.knowledge import markdown
from warroom.importers.knowledge.identity import Ids
from warroom.importers.knowledge.oddities import Met, tally

IMPORTER = "runbooks"
SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd"})
"""Ends of Markdown files' names, in lower case."""
MAX_BYTES = 50_000_000
"""The largest file that is read."""


class Oddity(StrEnum):
    """What is odd about a tree."""

    NOT_MARKDOWN = "not_markdown"
    HIDDEN = "hidden"
    TOO_BIG = "too_big"
    UNREADABLE = "unreadable"
    LINK_LOOP = "link_loop"
    LINK_BROKEN = "link_broken"
    LINK_OUTSIDE = "link_outside"
    LINK_TWICE = "link_twice"
    SAME_ID = "same_id"


MEANING: dict[StrEnum, str] = {
    Oddity.NOT_MARKDOWN: f"files that are not Markdown (by name: {', '.join(sorted(SUFFIXES))}): left out",
    Oddity.HIDDEN: "files and folders whose name begins with a dot: left out",
    Oddity.TOO_BIG: f"files of over {MAX_BYTES / 1e6:.0f} MB: left out",
    Oddity.UNREADABLE: "files and folders that cannot be read: left out",
    Oddity.LINK_LOOP: "symbolic links that lead back to where they lie: left out",
    Oddity.LINK_BROKEN: "symbolic links that lead nowhere: left out",
    Oddity.LINK_OUTSIDE: "symbolic links that lead out of the folder: left out; import the place they lead to",
    Oddity.LINK_TWICE: "symbolic links to what is read at its own place: left out",
    Oddity.SAME_ID: "articles whose id another one has but for upper and lower case: told apart by ~2, ~3",
    **markdown.MEANING,
}


class Tree(NamedTuple):
    """The Markdown files of a folder, before any is read."""

    root: Path
    paths: tuple[PurePosixPath, ...]
    """Relative to the folder, sorted."""
    met: tuple[Met, ...]


def survey(folder: Path) -> Tree:
    """Find the Markdown files; a `ValueError` says why there are none."""
    if not folder.is_dir():
        raise ValueError(f"no folder {str(folder)!r} to read runbooks from (from {str(Path.cwd())!r})")
    root, met = folder.resolve(), list[Met]()
    files, links = _walk(root, met)
    found = {path for path in files if _is_markdown(root, path, met)}
    # Links come second: what is reached without one keeps its own place.
    found |= set(_followed(root, links, found, met))
    if not found:
        raise ValueError(_why_none(folder, met))
    return Tree(root, tuple(sorted(map(PurePosixPath, found), key=str)), tuple(met))


def _why_none(folder: Path, met: Sequence[Met]) -> str:
    others = sum(oddity.kind is Oddity.NOT_MARKDOWN for oddity in met)
    held = f"{others} files, none of which is Markdown" if others else "no file"
    return f"{folder} holds {held}: want files that end in {', '.join(sorted(SUFFIXES))}"


def _walk(root: Path, met: list[Met]) -> tuple[list[Path], list[Path]]:
    """All files and all symbolic links below, relative; no link is followed, so this ends."""

    def unreadable(error: OSError) -> None:
        met.append(Met(Oddity.UNREADABLE, _shown(Path(str(error.filename)).relative_to(root))))

    files, links = list[Path](), list[Path]()
    for place, folders, names in os.walk(root, onerror=unreadable):
        here = Path(place).relative_to(root)
        for name in sorted((*folders, *names)):
            if name.startswith("."):
                met.append(Met(Oddity.HIDDEN, _shown(here / name)))
            elif (root / here / name).is_symlink():
                links.append(here / name)
            elif name in names:
                files.append(here / name)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
    return files, links


def _is_markdown(root: Path, path: Path, met: list[Met]) -> bool:
    if path.suffix.lower() not in SUFFIXES:
        met.append(Met(Oddity.NOT_MARKDOWN, _shown(path)))
        return False
    if not (root / path).is_file():
        met.append(Met(Oddity.UNREADABLE, f"{_shown(path)} (not a regular file)"))
        return False
    return True


def _followed(root: Path, links: Iterable[Path], files: set[Path], met: list[Met]) -> Iterator[Path]:
    """The links that lead to Markdown files of the tree which are not read otherwise, such as hidden ones."""
    read = {root / path for path in files}
    for link in links:
        why = _why_left_out(root, link, read)
        if why:
            met.append(Met(why, _shown(link)))
        elif _is_markdown(root, link, met):
            read.add((root / link).resolve())
            yield link


def _why_left_out(root: Path, link: Path, read: set[Path]) -> Oddity | None:
    try:
        target = (root / link).resolve(strict=True)
    except FileNotFoundError:
        return Oddity.LINK_BROKEN
    except (OSError, RuntimeError):  # Python 3.13 made an OSError of what was a RuntimeError.
        return Oddity.LINK_LOOP
    if not target.is_relative_to(root):
        return Oddity.LINK_OUTSIDE
    if target.is_dir():
        return Oddity.LINK_LOOP if (root / link).parent.is_relative_to(target) else Oddity.LINK_TWICE
    return Oddity.LINK_TWICE if target in read else None


def _shown(path: Path | PurePosixPath) -> str:
    """A path as text, with a mark for bytes that are no character."""
    return path.as_posix().encode("utf-8", "replace").decode()


def import_runbooks(tree: Tree, watch: Callable[[int], None] = lambda count: None) -> Stored:
    """Read the files of a tree; a `ValueError` says so where none holds a text. `watch` hears of each file."""
    met, documents = list(tree.met), dict[str, Document]()
    ids = Ids()
    for path in tree.paths:
        document = _document(tree.root, path, ids, met)
        if document:
            documents[document.id] = document
        watch(1)
    warnings = tally(met, MEANING)
    if not documents:
        reasons = "; ".join(f"{warned.count} {warned.message}" for warned in warnings)
        raise ValueError(f"{tree.root}: no article in {len(tree.paths)} Markdown files: {reasons}")
    counts = {"files": len(tree.paths), "articles": len(documents)}
    return Stored(KnowledgeBase(documents), (Source(IMPORTER, tree.root.name, counts, warnings),))


def _document(root: Path, path: PurePosixPath, ids: Ids, met: list[Met]) -> Document | None:
    shown = _shown(path)
    data = _bytes(root / path, shown, met)
    article = None if data is None else markdown.read_article(data, PurePosixPath(shown).stem, shown, met)
    if article is None:
        return None
    return Document(_id(shown, ids, met), ARTICLE, article.title, article.body, path=shown)


def _bytes(file: Path, shown: str, met: list[Met]) -> bytes | None:
    try:
        size = file.stat().st_size
        if size <= MAX_BYTES:
            return file.read_bytes()
        met.append(Met(Oddity.TOO_BIG, f"{shown} ({size / 1e6:.0f} MB)"))
    except OSError as error:
        met.append(Met(Oddity.UNREADABLE, f"{shown} ({error.strerror})"))
    return None


def _id(path: str, ids: Ids, met: list[Met]) -> str:
    """The path without its suffix: it stays what it is when other files come and go."""
    plain = path.removesuffix(PurePosixPath(path).suffix)
    id = ids.take(plain)
    if id != plain:
        met.append(Met(Oddity.SAME_ID, f"{path} is {id}"))
    return id
