"""The run folder: everything that one command produced. Reports, viewers, re-grading and replay read only it.

`run.json` says what was asked for, `episodes.jsonl` holds one finished episode per line; `summary.json`, pictures and
`report.html` are made from these two and can be made again.
"""

import contextlib
import json
import os
import platform
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import warroom
from warroom.core.errors import describe_error
from warroom.core.spec import EpisodeSpec
from warroom.core.types import ToolCall
from warroom.envs import make
from warroom.episode import Episode, Step, build_episode, record_step

RECORD, EPISODES, SUMMARY, REPORT = "run.json", "episodes.jsonl", "summary.json", "report.html"
ROC, VIEWER = "roc.json", "viewer.html"
FORMAT = 2
"""Version of the folder's layout; a reader refuses any other."""
RESUME_ADVICE = "finished episodes stay: make room and run again with --resume"
"""What to do where an evaluation cannot write."""


class EpisodeKey(NamedTuple):
    """Which episode of a run: the incident, and who played it."""

    spec: EpisodeSpec
    policy: str


@dataclass(frozen=True, slots=True)
class Record:
    """What `run.json` holds: enough to make the run again and to know what made it."""

    kind: str
    """The verb of the command, such as `eval`."""
    command: str
    """The command line as it was typed."""
    config: dict[str, Any]
    """The resolved configuration; two runs of equal configuration may continue one another."""
    split: str
    seeds: list[int]
    """Indices within the split."""
    policies: list[str]
    planned: int
    """Episodes that make the run whole."""
    started: str
    """Time of day in UTC, ISO 8601."""
    warroom: str = warroom.__version__
    python: str = field(default_factory=platform.python_version)
    commit: str | None = None
    """Git commit of the code, `-dirty` when it had changes; None outside a repository."""
    resumed: list[dict[str, str | None]] = field(default_factory=list)
    """One entry per resumption: when, and by which commit."""
    versions: dict[str, str] = field(default_factory=dict)
    """Versions of the libraries that decide the result, by name."""
    policy_status: dict[str, Any] = field(default_factory=dict)
    """Which weights were asked for and which were loaded; empty where no model plays."""
    format: int = FORMAT

    def to_json(self) -> str:
        """The text of `run.json`."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Record":
        """Read `run.json`; a `ValueError` says that it is cut, foreign or of another version."""
        try:
            data = json.loads(text)
            if data["format"] != FORMAT:
                raise ValueError(
                    f"layout version {data['format']!r}, written by another version of Warroom, and this one reads "
                    f"version {FORMAT}; make the run again"
                )
            return cls(**data)
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ValueError(f"it is cut or not a run record: {describe_error(error)}") from error


def now() -> str:
    """The time of day in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def git_commit() -> str | None:
    """The commit that the package's own source stands at, or None where no repository tracks it."""
    here = Path(warroom.__file__).parent
    tracked = _git(here, "ls-files", "__init__.py")
    return _git(here, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*") if tracked else None


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


def key_of(episode: Episode) -> EpisodeKey:
    """The episode's place in its run."""
    return EpisodeKey(episode.spec, episode.policy)


# -- writing ----------------------------------------------------------------------------------------


class Run:
    """A run that is being written: each finished episode is on disk before the next one counts."""

    def __init__(self, folder: Path, record: Record, played: Sequence[EpisodeKey], notes: Sequence[str] = ()) -> None:
        self.folder, self.record = folder, record
        self.played = Counter(played)
        """Finished episodes by key."""
        self.notes = list(notes)
        """What was odd about the folder, for the person who resumed it."""
        # Unbuffered: a full disk shows in the write itself, never again when the file is closed.
        self._file = (folder / EPISODES).open("ab", buffering=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._file.close()

    def append(self, key: EpisodeKey, line: str) -> None:
        """Write one finished episode; a full disk is a `ValueError` that says how to go on."""
        data, size = line.encode() + b"\n", self._file.seek(0, os.SEEK_END)
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            self._file.truncate(size)
            raise _cannot_write(self.folder / EPISODES, error) from error
        self.played[key] += 1

    def sort_episodes(self, order: Sequence[EpisodeKey]) -> None:
        """Bring the file into the order of the plan, so that the same run is the same file however it was scheduled."""
        rank = {key: number for number, key in enumerate(dict.fromkeys(order))}
        path = self.folder / EPISODES
        spans = sorted((rank[key_of(episode)], start, end) for episode, start, end in _scan(path))
        if [start for _, start, _ in spans] == sorted(start for _, start, _ in spans):
            return
        temporary = path.with_suffix(".sorting")
        try:
            with path.open("rb") as source, temporary.open("wb") as target:
                for _, start, end in spans:
                    source.seek(start)
                    target.write(source.read(end - start))
            temporary.replace(path)
        except OSError as error:
            raise _cannot_write(temporary, error) from error


def open_run(folder: Path, record: Record, resume: bool = False) -> Run:
    """Begin a run in a new folder, or with `resume` go on with one of the same configuration.

    A `ValueError` says why the folder cannot be used and what to do instead; nothing in it is changed then.
    """
    record, notes = claim_folder(folder, record, resume)
    path = folder / EPISODES
    notes = _drop_cut_line(path) + notes
    return Run(folder, record, [key_of(episode) for episode, _, _ in _scan(path)], notes)


def claim_folder(folder: Path, record: Record, resume: bool = False) -> tuple[Record, list[str]]:
    """Write `run.json` into a new folder, or with `resume` note there that its run goes on.

    Returns the record as it stands in the folder, and what was odd about it. Errors are those of `open_run`.
    """
    before, notes = check_folder(folder, record, resume), []
    if before is not None:
        if before.commit != record.commit:
            notes.append(f"the run began at commit {before.commit} and goes on at {record.commit}")
        again: dict[str, str | None] = {"started": record.started, "commit": record.commit}
        record = replace(before, resumed=[*before.resumed, again])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / RECORD, record.to_json())
    except OSError as error:
        raise _cannot_write(folder, error) from error
    return record, notes


def check_folder(folder: Path, record: Record, resume: bool = False) -> Record | None:
    """The record of the run in a folder that `record` may go on with; None if the folder is free for a new run.

    Changes nothing. A `ValueError` says why the folder cannot be used and what to do instead.
    """
    if not (folder / RECORD).is_file():
        if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
            raise ValueError(f"{folder} exists and is not a run folder; choose another --out")
        return None
    before = read_record(folder)
    differing = _differences(before, record)
    if differing:
        again = (
            f"; to go on with it repeat the command that began it: {resume_command(before, folder)}" if resume else ""
        )
        raise ValueError(f"{folder} holds a run that differs in {', '.join(differing)}; choose another --out{again}")
    if not resume:
        raise ValueError(
            f"{folder} holds a run of this very configuration; add --resume to go on, or choose another --out"
        )
    return before


def resume_command(before: Record, folder: Path) -> str:
    """The command that goes on with a run in the folder where it lies now, which may be another than it began in."""
    words = [word for word in shlex.split(before.command) if word != "--resume" and not word.startswith("--out=")]
    if "--out" in words:
        del words[words.index("--out") : words.index("--out") + 2]
    return shlex.join([*words, "--out", str(folder), "--resume"])


def write_text(path: Path, text: str, advice: str = RESUME_ADVICE) -> None:
    """Write a file whole or not at all; a `ValueError` says why it cannot be, and gives the advice."""
    temporary = path.with_name(path.name + ".part")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise _cannot_write(path, error, advice) from error


def _differences(before: Record, record: Record) -> list[str]:
    """What keeps a run from being the continuation of another."""
    old, new = ({**r.config, "kind of run": r.kind, "version of Warroom": r.warroom} for r in (before, record))
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def _drop_cut_line(path: Path) -> list[str]:
    """Cut an unfinished last line off the file; says so if there was one."""
    if not path.is_file():
        return []
    with path.open("rb+") as file:
        whole = sum(len(line) for line in file if line.endswith(b"\n"))
        size = file.seek(0, os.SEEK_END)
        if whole == size:
            return []
        file.truncate(whole)
    return [f"the last line of {path} was cut ({size - whole} bytes); that episode is played again"]


def _cannot_write(path: Path, error: OSError, advice: str = RESUME_ADVICE) -> ValueError:
    return ValueError(f"cannot write {path}: {error.strerror or error}; {advice}")


# -- reading ----------------------------------------------------------------------------------------


def read_record(folder: Path) -> Record:
    """What `run.json` of a folder says; a `ValueError` if there is none or it cannot be read."""
    path = folder / RECORD
    if not path.is_file():
        what = (
            f"has no {RECORD}: it is not a run folder, or its start was cut" if folder.is_dir() else "is not a folder"
        )
        raise ValueError(f"{folder} {what if folder.exists() else 'does not exist'}")
    try:
        return Record.from_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def read_finished(folder: Path) -> Iterator[Episode]:
    """The finished episodes of a run, whole or not, in the order of the file."""
    for episode, _, _ in _scan(folder / EPISODES):
        yield episode


def read_episodes(folder: Path) -> Iterator[Episode]:
    """The episodes of a whole run, in the order of its plan; a `ValueError` says what is missing from a cut one."""
    record, count = read_record(folder), 0
    if record.kind == "train":
        raise ValueError(
            f"{folder} is a training run, without episodes: warroom eval --policies hf:{folder}/model plays some"
        )
    path = folder / EPISODES
    if not path.is_file():
        raise ValueError(f"{folder} has no {EPISODES}; all {record.planned} episodes are missing")
    for episode in read_finished(folder):
        count += 1
        yield episode
    if count < record.planned:
        raise ValueError(
            f"{folder} holds {count} of {record.planned} episodes; "
            f"finish it by the command that began it: {resume_command(record, folder)}"
        )


def _scan(path: Path) -> Iterator[tuple[Episode, int, int]]:
    """Each episode of a file with its first and last byte."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        end = 0
        for number, line in enumerate(file, 1):
            start, end = end, end + len(line)
            if not line.endswith(b"\n"):
                raise ValueError(f"{path}: line {number} is cut after {len(line)} bytes; resume the run to replace it")
            try:
                yield Episode.from_json(line.decode()), start, end
            except (ValueError, UnicodeDecodeError) as error:
                raise ValueError(f"{path}: line {number}: {error}") from error


# -- replay -----------------------------------------------------------------------------------------


class ReplayMismatch(ValueError):
    """A replayed episode went another way than its record."""


def replay(episode: Episode) -> Episode:
    """Play an episode again from its recorded calls; a `Mismatch` names the first step that differs."""
    env = make(episode.spec)
    steps: list[Step] = []
    for step in episode.steps:
        if env.done:
            raise _ended_elsewhere(episode, steps, f"over after {len(steps)} of {len(episode.steps)} calls")
        played, _ = record_step(env, ToolCall(step.tool, step.arguments), env.observe().render(), step.message)
        steps.append(played)
    if not env.done:
        raise _ended_elsewhere(episode, steps, f"not over after all {len(steps)} calls")
    again = build_episode(env, episode.policy, steps)
    if again.to_json() != episode.to_json():
        raise _mismatch(episode, first_difference(episode, again))
    return again


def first_difference(recorded: Episode, replayed: Episode) -> str:
    """Where two plays of one episode part, in words."""
    parted = _parting(recorded.steps, replayed.steps)
    if parted is not None:
        return parted
    old_line, new_line = json.loads(recorded.to_json()), json.loads(replayed.to_json())
    name = next(name for name in old_line if old_line[name] != new_line[name])
    return f"its {name} differs: recorded {old_line[name]!r}, now {new_line[name]!r}"


def _parting(recorded: Sequence[Step], replayed: Sequence[Step]) -> str | None:
    """The first call of two plays that differs, in words; None where none does."""
    for number, (old, new) in enumerate(zip(recorded, replayed, strict=False)):
        before, after = _comparable(old), _comparable(new)
        for name in before:
            if before[name] != after[name]:
                return f"step {number} ({old.seat}) differs in {name}: recorded {before[name]!r}, now {after[name]!r}"
    return None


def _ended_elsewhere(episode: Episode, steps: Sequence[Step], how: str) -> ReplayMismatch:
    """The calls led to another end, or to none; where one of them was answered otherwise, that came first."""
    parted = _parting(episode.steps, steps)
    return _mismatch(episode, f"{parted}; {how}" if parted else how)


def _comparable(step: Step) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(asdict(step)))
    return read


def _mismatch(episode: Episode, what: str) -> ReplayMismatch:
    return ReplayMismatch(f"{episode.spec} by {episode.policy}: {what}")
