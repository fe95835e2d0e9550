"""What workers have finished: each writes a file of its own in the run folder, and no end of theirs loses a line."""

import json
import os
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import mkstemp
from typing import NamedTuple

from warroom.core.strict_json import parse_json
from warroom.envs import parse_spec
from warroom.episode import Episode
from warroom.runs import EpisodeKey, Run, cannot_write, key_of

SHARDS = "parts"
"""The folder within the run folder."""


class ShardCollector:
    """The files of all workers, those of a run that was interrupted included."""

    def __init__(self, run: Run, planned: Mapping[EpisodeKey, int]) -> None:
        """`planned` says how often each episode is to be in the run."""
        self.folder = run.folder / SHARDS
        self._run, self._wanted = run, planned
        self._left = frozenset(self.folder.glob("*.jsonl"))
        self._read: dict[Path, int] = {}

    def collect(self) -> int:
        """Take over what was finished since the last time; returns how many episodes."""
        count = 0
        for path in sorted(self.folder.glob("*.jsonl")):
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._read[path] = self._read.get(path, 0) + len(line)
                    count += self._append(path, line)
        return count

    def remove(self) -> None:
        """Delete what has been taken over."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _append(self, path: Path, line: bytes) -> bool:
        try:
            found, episode = _parse(line, check=path in self._left)
        except ValueError as error:
            raise ValueError(
                f"{path} is damaged: {error}; delete it and run again with --resume: its episodes are played again"
            ) from error
        if self._run.played[found] >= self._wanted.get(found, 0):
            return False  # it was taken over before an interruption
        self._run.append(found, episode)
        return True


class FinishedLine(NamedTuple):
    """What a worker has finished."""

    key: EpisodeKey
    episode: str
    """Its line for the run folder."""


def _parse(line: bytes, *, check: bool) -> FinishedLine:
    """A worker's line; with `check`, since an earlier process wrote it, the episode itself is looked at too."""
    key, _, episode = line.decode().rstrip("\n").partition("\t")
    names = parse_json(key)
    if not (isinstance(names, list) and len(names) == 2 and all(isinstance(name, str) for name in names)):
        raise ValueError("a line does not begin with an episode and a policy")
    found = EpisodeKey(parse_spec(names[0]), names[1])
    if check and key_of(Episode.from_json(episode)) != found:
        raise ValueError(f"a line is not the episode {found.spec} by {found.policy} that it says it is")
    return FinishedLine(found, episode)


def write_episode(folder: str, key: EpisodeKey, line: str) -> None:
    """Keep an episode that this worker has finished; a full disk is a `ValueError`, and leaves no half line."""
    path = _process_file(folder)
    size = path.stat().st_size
    try:
        with path.open("ab", buffering=0) as file:
            data = f"{json.dumps([str(key.spec), key.policy])}\t{line}\n".encode()
            while data:
                data = data[file.write(data) :]
    except OSError as error:
        os.truncate(path, size)
        raise cannot_write(path, error) from error


@cache
def _process_file(folder: str) -> Path:
    """The file of this process: never one that another has left."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    descriptor, name = mkstemp(".jsonl", dir=folder)
    os.close(descriptor)
    return Path(name)
