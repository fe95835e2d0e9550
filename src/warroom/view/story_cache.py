"""Stories that were worked out, kept in the run folder: playing an episode again takes longer than reading it."""

import json
import re
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import warroom
from warroom.core.types import JsonObject
from warroom.episode import Episode
from warroom.runs import write_text
from warroom.view.contract import CONTRACT, PageRow

STORIES = "stories.jsonl"
"""One entry a line; a line that does not fit the run or this version is made anew."""
_ID, _PACKED = re.compile(r"[0-9a-f]{10}"), re.compile(r"[A-Za-z0-9+/=]+")
SOURCES = ("core", "sim", "envs", "view")
"""Packages on which a story depends."""


class KeptStory(NamedTuple):
    """An episode, told and packed."""

    key: str
    """Of the recorded episode and of the code that told its story."""
    row: JsonObject
    incident: str
    """The packed `Incident`."""
    papers: str
    """The packed `Papers`, which its other episodes share."""
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


def key_of_story(played: Episode, replay: bool) -> str:
    """Under what an episode's entry is kept."""
    return blake2b(
        f"{_code()} {replay} {played.to_json()}".encode("utf-8", "surrogatepass"), digest_size=12
    ).hexdigest()


def read_cache(folder: Path) -> dict[str, KeptStory]:
    """The entries by key; a line that is cut or foreign does not count."""
    found: dict[str, KeptStory] = {}
    path = folder / STORIES
    if path.is_file():
        for line in path.read_bytes().splitlines():
            try:
                entry = KeptStory(**json.loads(line))
                PageRow(**entry.row)
            except (TypeError, ValueError):
                continue
            if _is_whole(entry):
                found[entry.key] = entry
    return found


def _is_whole(entry: KeptStory) -> bool:
    """Whether an entry can stand in a page: a folder may come from anybody."""
    ids = entry.row["id"], entry.row["incident"]
    texts = [*entry[:1], *entry[2:], *ids]
    return (
        all(isinstance(text, str) for text in texts)
        and all(_ID.fullmatch(id) for id in ids)
        and all(_PACKED.fullmatch(text) for text in (entry.incident, entry.papers, entry.episode))
    )


def write_cache(folder: Path, entries: list[KeptStory]) -> None:
    """Keep these entries and no others; where the folder cannot be written nothing is kept."""
    lines = [json.dumps(entry._asdict(), separators=(",", ":")) for entry in entries]
    with suppress(ValueError):
        write_text(folder / STORIES, "\n".join([*lines, ""]))
