"""Which article a link means: links are written against a web site or a repository, articles lie in a tree."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from warroom.envs.tickets.knowledge import Document

INDEXES = ("readme", "index", "_index")
"""Names of the file that a web site shows for its folder, in lower case."""
PAGES = (".md", ".markdown", ".html", ".htm")
"""Ends of a path that a site may add or drop."""
_Path = tuple[str, ...]


class LinkStatus(StrEnum):
    """What became of a link."""

    FOUND = "found"
    MISSING = "missing_link"
    TEMPLATED = "templated_link"
    DANGLING = "dangling_link"
    AMBIGUOUS = "ambiguous_link"


class ResolvedLink(NamedTuple):
    """A link's fate, and the id of its article where it has one."""

    status: LinkStatus
    id: str = ""


class LinkResolver:
    """The paths of a knowledge base, to look links up in.

    A link means an article if the path of one ends with the whole path of the other, folder by folder, whatever the
    case: `https://runbooks.example/runbooks/node/nodediskfull#cause` means `node/NodeDiskFull.md`. The longest wins.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._paths = {document.id: _parts(document.path) for document in documents if document.path}
        self._whole: dict[_Path, list[str]] = {}
        self._tails: dict[_Path, list[str]] = {}
        for id, path in self._paths.items():
            self._whole.setdefault(_lower(path), []).append(id)
            for tail in _tails(_lower(path)):
                self._tails.setdefault(tail, []).append(id)

    def resolve(self, link: str) -> ResolvedLink:
        """The article that a link means, or why there is none."""
        if not link.strip():
            return ResolvedLink(LinkStatus.MISSING)
        if "{{" in link:
            return ResolvedLink(LinkStatus.TEMPLATED)
        path = _parts(_path_of(link))
        if not path:
            return ResolvedLink(LinkStatus.DANGLING)
        found = self._candidates(path) or [id for name in INDEXES for id in self._candidates((*path, name))]
        if len(found) > 1:
            return ResolvedLink(LinkStatus.AMBIGUOUS)
        return ResolvedLink(LinkStatus.FOUND, found[0]) if found else ResolvedLink(LinkStatus.DANGLING)

    def _candidates(self, path: _Path) -> list[str]:
        """Articles whose path is this one, else ends with it, else is the longest end of it; best in its very case."""
        wanted = _lower(path)
        found = self._whole.get(wanted) or self._tails.get(wanted)
        if not found:
            # A lone README is the index of its own tree, not of every folder that links name.
            ends = (tail for tail in _tails(wanted) if tail in self._whole and tail[0] not in INDEXES)
            longest = next(ends, None)
            found = self._whole[longest] if longest else []
        exact = [id for id in found if _same_end(self._paths[id], path)]
        return exact or found


def _path_of(link: str) -> str:
    """The path of a URL or of a relative link, without host, query and anchor."""
    try:
        return unquote(urlsplit(link.strip()).path)
    except ValueError:  # Such as a bracket where a host's address should be.
        return link.strip()


def _parts(path: str) -> _Path:
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    for page in PAGES:
        if parts and parts[-1].lower().endswith(page):
            parts[-1] = parts[-1][: -len(page)]
            break
    return tuple(parts)


def _lower(path: _Path) -> _Path:
    return tuple(part.lower() for part in path)


def _tails(path: _Path) -> Iterator[_Path]:
    """The path, then without its first folder, and so on to its last part alone."""
    return (path[start:] for start in range(len(path)))


def _same_end(path: _Path, other: _Path) -> bool:
    shorter = min(len(path), len(other))
    return path[-shorter:] == other[-shorter:]
