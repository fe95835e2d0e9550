"""What workers have finished: each writes a file of its own in the run folder, and no end of theirs loses a line."""

import json
import os
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import mkstemp

from warroom.envs import parse_spec
from warroom.runs import EpisodeKey, Run

SHARDS = "parts"
"""The folder within the run folder."""


class ShardCollector:
    """The files of all workers, those of a run that was interrupted included."""

    def __init__(self, run: Run, planned: Mapping[EpisodeKey, int]) -> None:
        """`planned` says how often each episode is to be in the run."""
        self.folder = run.folder / SHARDS
        self._run, self._wanted = run, planned
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
                    count += self._append(line.decode())
        return count

    def remove(self) -> None:
        """Delete what has been taken over."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _append(self, line: str) -> bool:
        key, _, episode = line.rstrip("\n").partition("\t")
        spec, policy = json.loads(key)
        found = EpisodeKey(parse_spec(spec), policy)
        if self._run.played[found] >= self._wanted.get(found, 0):
            return False  # it was taken over before an interruption
        self._run.append(found, episode)
        return True


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
        raise ValueError(f"cannot write {path}: {error.strerror}; make room and run again with --resume") from error


@cache
def _process_file(folder: str) -> Path:
    """The file of this process: never one that another has left."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    descriptor, name = mkstemp(".jsonl", dir=folder)
    os.close(descriptor)
    return Path(name)
