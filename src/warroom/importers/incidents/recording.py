"""Recorded incidents of any source, brought into the layout that the log environment plays."""

import importlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from warroom.core.errors import UnknownName, describe_error
from warroom.sim import recording
from warroom.sim.recording import FORMAT, INDEX, LABELS, WINDOWS, Label, Record, Span

SOURCES = {"nezha": "warroom.importers.incidents.nezha"}
"""The sources that can be read, and the module that knows each."""


class RecordingIssue(StrEnum):
    """What a source does that would mislead one who took it at its word."""

    INJECT_TIMESTAMP = "inject_timestamp"
    LOCAL_TIME = "local_time"
    JSON_IN_CSV = "json_in_csv"
    CUT_JSON = "cut_json"
    NO_LEVEL = "no_level"
    TWO_TIMES = "two_times"
    MONOTONIC = "monotonic"
    ROOT_PARENT = "root_parent"
    ORPHAN = "orphan"
    MICROSECONDS = "microseconds"
    NO_STATUS = "no_status"
    OUTSIDE_MINUTE = "outside_minute"
    AMBIGUOUS_MINUTE = "ambiguous_minute"
    NO_VALUE = "no_value"
    FEW_MINUTES = "few_minutes"
    NO_LOGS = "no_logs"
    NO_LABEL = "no_label"
    UNKNOWN_ROOT = "strange_root"
    ORPHAN_LABEL = "stray_label"
    DUPLICATE = "twice"


ISSUE_MESSAGES = {
    RecordingIssue.INJECT_TIMESTAMP: "labels with two injection times that disagree: inject_time counts, as UTC",
    RecordingIssue.LOCAL_TIME: "lines whose text tells local time: dropped, the record's own UTC counts",
    RecordingIssue.JSON_IN_CSV: "lines that are docker's JSON inside CSV: unwrapped",
    RecordingIssue.CUT_JSON: "lines whose JSON is cut off: their text is taken as far as it goes",
    RecordingIssue.NO_LEVEL: "lines without a level",
    RecordingIssue.TWO_TIMES: "lines whose two times differ by over a second: TimeUnixNano counts",
    RecordingIssue.MONOTONIC: "metric times with the suffix of Go's monotonic clock: dropped",
    RecordingIssue.ROOT_PARENT: "spans whose parent is the word 'root': the first of their request",
    RecordingIssue.ORPHAN: "spans whose parent is not in the file: their caller is not known",
    RecordingIssue.MICROSECONDS: "durations in microseconds: divided by a thousand",
    RecordingIssue.NO_STATUS: "requests without a status: taken as failed if a line at ERROR was written in them",
    RecordingIssue.OUTSIDE_MINUTE: "lines outside the minute that holds most of its window: kept",
    RecordingIssue.AMBIGUOUS_MINUTE: "metric rows of minutes in which the fault may have begun: left out",
    RecordingIssue.NO_VALUE: "metric rows without a value: left out",
    RecordingIssue.FEW_MINUTES: "services with too few metric minutes before the fault to tell what is usual, likewise",
    RecordingIssue.NO_LOGS: "services of which no line arrived, added up over the incidents",
    RecordingIssue.NO_LABEL: "incidents without a label: kept, but not played",
    RecordingIssue.UNKNOWN_ROOT: "labels that name a service of which there is no record: left out",
    RecordingIssue.ORPHAN_LABEL: "labels of incidents that are not there: left out",
    RecordingIssue.DUPLICATE: "incidents that are listed twice: the first counts",
}


@dataclass(frozen=True, slots=True)
class RecordingWarning:
    """One trap, and how often it was met."""

    kind: RecordingIssue
    message: str
    count: int


class ParsedIncident(NamedTuple):
    """One incident as its source tells it."""

    started: float
    """Seconds since 1970, UTC, at which the window `now` begins."""
    seconds: tuple[float, float]
    """How long the windows `before` and `now` are."""
    records: Sequence[Record]


class IncidentSource(Protocol):
    """What an adapter offers: one incident after another, so that a long import may break off."""

    @property
    def ids(self) -> tuple[str, ...]:
        """All incidents in their order."""
        ...

    @property
    def index_issues(self) -> Mapping[RecordingIssue, int]:
        """Traps of the list itself."""
        ...

    def read(self, id: str, issues: Counter[RecordingIssue]) -> ParsedIncident:
        """One incident; counts into `traps` what was odd. A `ValueError` says why it cannot be had."""
        ...

    def label(self, id: str, issues: Counter[RecordingIssue]) -> Label | None:
        """Its answer, if there is one."""
        ...

    def kind_of(self, service: str) -> str:
        """gateway, service, db, cache or queue."""
        ...


def open_source(name: str, folder: Path) -> IncidentSource:
    """The incidents of a folder as the adapter `name` reads them."""
    if name not in SOURCES:
        raise UnknownName("source of incidents", name, SOURCES)
    if not folder.is_dir():
        raise ValueError(f"no folder {str(folder)!r} to read incidents from")
    source: IncidentSource = importlib.import_module(SOURCES[name]).open_folder(folder)
    return source


@dataclass(slots=True)
class ArchiveWriter:
    """The folder while it is written: whatever is on it stays whole, however the import ends."""

    folder: Path
    source: str
    kinds: dict[str, str] = field(default_factory=dict)
    """Services and their kinds."""
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    incidents: dict[str, dict[str, Any]] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    """Incidents that could not be had, and why."""
    labels: dict[str, Label] = field(default_factory=dict)
    index_issues: dict[RecordingIssue, int] = field(default_factory=dict)

    def add_incident(
        self,
        id: str,
        found: ParsedIncident,
        label: Label | None,
        kind_of: Callable[[str], str] = lambda _: "service",
        issues: Mapping[RecordingIssue, int] | None = None,
    ) -> None:
        """Add an incident, and write everything that is known so far."""
        recording.check_id(id)
        if not found.records:
            raise ValueError(f"the incident {id} has no record")
        with _writing(self.folder):
            (self.folder / recording.FOLDER).mkdir(parents=True, exist_ok=True)
            recording.write_records(self.folder / recording.FOLDER / f"{id}.jsonl.gz", found.records)
        own, issues = _services(found.records), Counter(issues or {})
        self.kinds |= {name: kind_of(name) for name in sorted(own)}
        self.calls.update(_calls(found.records))
        if label is not None and label.root in own:
            self.labels[id] = label
        elif label is not None:
            issues[RecordingIssue.UNKNOWN_ROOT] += 1
        self.incidents[id] = _row(id, found, issues)
        self.write()

    def write(self) -> None:
        """Write index and labels; a reader never sees half of one."""
        with _writing(self.folder):
            _replace(self.folder / LABELS, {id: label._asdict() for id, label in sorted(self.labels.items())})
            _replace(self.folder / INDEX, self._index())

    def _index(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "source": self.source,
            "services": [{"name": name, "kind": kind, "team": None} for name, kind in sorted(self.kinds.items())],
            "calls": [{"caller": a, "callee": b, "count": n} for (a, b), n in sorted(self.calls.items())],
            "incidents": list(self.incidents.values()),
            "broken": [{"id": id, "reason": reason} for id, reason in self.broken.items()],
            "warnings": [asdict(warned) for warned in self.warnings],
            "strays": self.index_issues,
        }

    @property
    def warnings(self) -> tuple[RecordingWarning, ...]:
        """Every trap that was met, over all incidents."""
        total = Counter(self.index_issues)
        for row in self.incidents.values():
            total.update({RecordingIssue(kind): count for kind, count in row["warnings"].items()})
        return tuple(
            RecordingWarning(kind, ISSUE_MESSAGES[kind], total[kind]) for kind in RecordingIssue if total[kind]
        )


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Tell what the file system has against it as an error of the caller's."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"cannot write {folder}: {error.strerror}") from error


def _services(records: Iterable[Record]) -> set[str]:
    """Whoever wrote, traced or was measured, and callers of whom nothing else is known."""
    found = set()
    for record in records:
        found.add(record.service)
        if isinstance(record, Span) and record.parent is not None:
            found.add(record.parent)
    return found


def _calls(records: Iterable[Record]) -> Iterable[tuple[str, str]]:
    spans = (record for record in records if isinstance(record, Span))
    return ((span.parent, span.service) for span in spans if span.parent is not None and span.request)


def _row(id: str, found: ParsedIncident, issues: Mapping[RecordingIssue, int]) -> dict[str, Any]:
    count = Counter(type(record) for record in found.records)
    return {
        "id": id,
        "started": found.started,
        "seconds": dict(zip(WINDOWS, found.seconds, strict=True)),
        "counts": {kind: count[made] for kind, made in recording.KINDS.items()},
        "warnings": {str(kind): issues[kind] for kind in RecordingIssue if issues.get(kind)},
    }


def _replace(path: Path, data: object) -> None:
    half = path.with_suffix(".part")
    half.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    half.replace(path)


def open_archive(folder: Path, source: str, force: bool) -> ArchiveWriter:
    """The folder to write to: new, emptied by force, or one of an import that broke off, to go on with."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return ArchiveWriter(folder, source)
    hint = "choose another --out, or overwrite it with --force"
    if not (folder / INDEX).is_file():
        raise ValueError(f"{folder} exists and is no folder of recordings; choose another --out")
    if force:
        for old in (folder / recording.FOLDER).glob("*.jsonl.gz"):
            old.unlink()
        return ArchiveWriter(folder, source)
    data = recording.read_json(folder / INDEX)
    if data.get("format") != FORMAT or data.get("source") != source:
        raise ValueError(f"{folder} exists and holds other recordings; {hint}")
    try:
        return _continued(folder, source, data)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{folder / INDEX}: not an index of recordings ({describe_error(error)}); {hint}") from error


def _continued(folder: Path, source: str, data: Mapping[str, Any]) -> ArchiveWriter:
    return ArchiveWriter(
        folder,
        source,
        kinds={row["name"]: row["kind"] for row in data["services"]},
        calls=Counter({(row["caller"], row["callee"]): row["count"] for row in data["calls"]}),
        incidents={row["id"]: row for row in data["incidents"]},
        labels=recording.read_labels(folder / LABELS),
        index_issues={RecordingIssue(kind): count for kind, count in data["strays"].items()},
    )


def import_incidents(
    source: IncidentSource,
    name: str,
    out: Path,
    force: bool = False,
    on_progress: Callable[[int], None] = lambda count: None,
) -> ArchiveWriter:
    """Import what the folder does not hold yet. An incident that cannot be had is told of, and the others are kept."""
    archive_writer = open_archive(out, name, force)
    missing = [id for id in source.ids if id not in archive_writer.incidents]
    if not missing:
        raise ValueError(f"{out} holds all {len(source.ids)} incidents already; import them again with --force")
    archive_writer.index_issues = dict(source.index_issues)
    for id in missing:
        issues: Counter[RecordingIssue] = Counter()
        try:
            found, label = source.read(id, issues), source.label(id, issues)
        except ValueError as error:
            archive_writer.broken[id] = str(error)
        else:
            archive_writer.add_incident(id, found, label, source.kind_of, issues)
        on_progress(1)
    if not archive_writer.incidents:
        id, reason = next(iter(archive_writer.broken.items()))
        raise ValueError(f"none of the {len(missing)} incidents could be read; the first, {id}: {reason}")
    archive_writer.write()
    return archive_writer
