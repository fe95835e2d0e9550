"""Stories that were worked out, kept in the run folder: playing an episode again takes longer than reading it."""

import json
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import warroom
from warroom.episode import Episode as Played
from warroom.view.contract import CONTRACT

STORIES = "stories.jsonl"
"""One entry a line; a line that does not fit the run or this version is made anew."""
SOURCES = ("core", "sim", "envs", "view")
"""Packages on which a story depends."""


class Entry(NamedTuple):
    """An episode, told and packed."""

    digest: str
    """Of the recorded episode and of the code that told its story."""
    row: dict[str, Any]
    incident: str
    """The packed `Incident`."""
    episode: str
    """The packed `Episode`."""
    words: str
    """The words that can be searched for, by blanks."""


@cache
def _code() -> str:
    """What told the stories: another version may tell others."""
    root = Path(warroom.__file__).parent
    hashed = blake2b(f"{warroom.__version__} {CONTRACT}".encode(), digest_size=8)
    for package in SOURCES:
        for path in sorted((root / package).rglob("*.py")):
            hashed.update(path.read_bytes())
    return hashed.hexdigest()


def digest_of(played: Played, replay: bool) -> str:
    """Under what an episode's entry is kept."""
    return blake2b(
        f"{_code()} {replay} {played.to_json()}".encode("utf-8", "surrogatepass"), digest_size=12
    ).hexdigest()


def read_cache(folder: Path) -> dict[str, Entry]:
    """The entries by digest; a line that is cut or foreign does not count."""
    found: dict[str, Entry] = {}
    path = folder / STORIES
    if path.is_file():
        for line in path.read_bytes().splitlines():
            try:
                entry = Entry(**json.loads(line))
            except (TypeError, ValueError):
                continue
            found[entry.digest] = entry
    return found


def write_cache(folder: Path, entries: list[Entry]) -> bool:
    """Keep these entries and no others; False if the folder cannot be written."""
    lines = [json.dumps(entry._asdict(), separators=(",", ":")) for entry in entries]
    temporary = folder / f".{STORIES}.tmp"
    try:
        temporary.write_text("\n".join([*lines, ""]), encoding="ascii")
        temporary.replace(folder / STORIES)
    except OSError:
        return False
    return True
