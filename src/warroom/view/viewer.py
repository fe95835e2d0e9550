"""`viewer.html`: every episode of a run in one file that needs no network, to be opened in any browser.

Episodes lie in the file compressed and are unpacked when they are looked at. No text of an episode is ever read as
HTML: data travels as base64, the page's script writes text only, and its policy lets no other script run.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from warroom.core.scene import Scene
from warroom.core.spec import EpisodeSpec
from warroom.core.types import JsonObject
from warroom.episode import Episode
from warroom.runs import REPORT
from warroom.view.debrief import incident_of
from warroom.view.viewer_data import RunEpisodes, episode_data, incident_data, row

HERE = Path(__file__).parent
SCRIPTS = ("viewer_list.js", "viewer_play.js", "viewer_place.js")
"""One after the other they are the page's script."""
COMPRESSION_LEVEL = 6
"""Of compression: a higher one takes twice the time for two per cent."""


class Blob(NamedTuple):
    """A piece of data under the id by which the page finds it."""

    id: str
    text: str
    """Base64 of gzipped JSON."""


def viewer_page(
    sources: Sequence[RunEpisodes],
    scenes: bool = True,
    progress: Callable[[int], None] = lambda count: None,
    page_folder: Path | None = None,
) -> str:
    """The page as text, for one run or two. `progress` is told of every episode that was packed; `page_folder` is the
    folder that the page will lie in, whose report it links.

    With `scenes` every episode is played again; a `ReplayMismatch` says which cannot be.
    """
    rows, blobs = list[JsonObject](), list[Blob]()
    numbers: dict[EpisodeSpec, int] = {}
    first: list[Episode] = []
    union_scene: list[list[Scene]] = []
    for number, (run, episode) in enumerate((k, e) for k, source in enumerate(sources) for e in source.episodes):
        incident = numbers.setdefault(incident_of(episode.spec), len(numbers))
        if incident == len(first):
            first.append(episode)
            union_scene.append([])
        packed_episode = episode_data(episode, scenes)
        union_scene[incident] += [packed_episode.union_scene] if packed_episode.union_scene else []
        rows.append(row(episode, incident, run))
        blobs.append(Blob(f"e{number}", packed(packed_episode.data)))
        progress(1)
    blobs += [
        Blob(f"i{k}", packed(incident_data(e, s))) for k, (e, s) in enumerate(zip(first, union_scene, strict=True))
    ]
    return _page(_index(sources, rows, scenes, page_folder), blobs)


def packed(data: Mapping[str, object]) -> str:
    """Data as base64 of gzipped JSON: letters that mean nothing to HTML."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("ascii"), COMPRESSION_LEVEL, mtime=0)).decode()


def _index(
    sources: Sequence[RunEpisodes], rows: Sequence[Mapping[str, object]], scenes: bool, page_folder: Path | None
) -> JsonObject:
    """What the list and the head of the page show."""
    names = [source.folder.resolve().name for source in sources]
    if len(set(names)) < len(names):
        names = [str(source.folder) for source in sources]
    runs = [
        {
            "name": name,
            "command": source.record.command,
            "warroom": source.record.warroom,
            "started": source.record.started,
            "report": page_folder == source.folder and (page_folder / REPORT).is_file(),
        }
        for name, source in zip(names, sources, strict=True)
    ]
    notes = [note for source in sources for note in source.notes]
    return {"runs": runs, "rows": rows, "notes": notes, "scenes": scenes}


def _page(index: JsonObject, blobs: Sequence[Blob]) -> str:
    """Template, style, script and data in one."""
    script = "\n".join([(HERE / name).read_text(encoding="utf-8") for name in SCRIPTS])
    script_hash = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # What is put in is put in by parts: a text that holds the name of another place stays what it is.
    parts = (HERE / "viewer.html").read_text(encoding="utf-8").split("%%")
    places = {
        "TITLE": escape(" and ".join(run["name"] for run in index["runs"])),
        "DIGEST": script_hash,
        "STYLE": (HERE / "viewer.css").read_text(encoding="utf-8"),
        "INDEX": packed(index),
        "BLOBS": "\n".join([f'<script type="text/plain" id="{id}">{text}</script>' for id, text in blobs]),
        "SCRIPT": script,
    }
    return "".join([places[part] if k % 2 else part for k, part in enumerate(parts)])
