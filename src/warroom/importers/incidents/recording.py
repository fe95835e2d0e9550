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

from warroom.core.errors import Unknown, what_is_wrong
from warroom.sim import recording
from warroom.sim.recording import FORMAT, INDEX, LABELS, WINDOWS, Label, Record, Span

SOURCES = {"nezha": "warroom.importers.incidents.nezha"}
"""The sources that can be read, and the module that knows each."""


class Trap(StrEnum):
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
    STRANGE_ROOT = "strange_root"
    STRAY_LABEL = "stray_label"
    TWICE = "twice"


MEANING = {
    Trap.INJECT_TIMESTAMP: "labels whose inject_timestamp disagrees with inject_time: inject_time, as UTC, counts",
    Trap.LOCAL_TIME: "lines whose text tells local time: dropped, the record's own UTC counts",
    Trap.JSON_IN_CSV: "lines that are docker's JSON inside CSV: unwrapped",
    Trap.CUT_JSON: "lines whose JSON is cut off: their text is taken as far as it goes",
    Trap.NO_LEVEL: "lines without a level",
    Trap.TWO_TIMES: "lines whose two times differ by over a second: TimeUnixNano counts",
    Trap.MONOTONIC: "metric times with the suffix of Go's monotonic clock: dropped",
    Trap.ROOT_PARENT: "spans whose parent is the word 'root': the first of their request",
    Trap.ORPHAN: "spans whose parent is not in the file: their caller is not known",
    Trap.MICROSECONDS: "durations in microseconds: divided by a thousand",
    Trap.NO_STATUS: "requests without a status: taken as failed if a line at ERROR was written in them",
    Trap.OUTSIDE_MINUTE: "lines outside the minute that holds most of its window: kept",
    Trap.AMBIGUOUS_MINUTE: "metric rows of minutes in which the fault may have begun: left out",
    Trap.NO_VALUE: "metric rows without a value: left out",
    Trap.FEW_MINUTES: "services with too few metric minutes before the fault to tell what is usual, likewise",
    Trap.NO_LOGS: "services of which no line arrived, added up over the incidents",
    Trap.NO_LABEL: "incidents without a label: kept, but not played",
    Trap.STRANGE_ROOT: "labels that name a service of which there is no record: left out",
    Trap.STRAY_LABEL: "labels of incidents that are not there: left out",
    Trap.TWICE: "incidents that are listed twice: the first counts",
}


@dataclass(frozen=True, slots=True)
class Warned:
    """One trap, and how often it was met."""

    kind: Trap
    message: str
    count: int


class Found(NamedTuple):
    """One incident as its source tells it."""

    started: float
    """Seconds since 1970, UTC, at which the window `now` begins."""
    seconds: tuple[float, float]
    """How long the windows `before` and `now` are."""
    records: Sequence[Record]


class Source(Protocol):
    """What an adapter offers: one incident after another, so that a long import may break off."""

    @property
    def ids(self) -> tuple[str, ...]:
        """All incidents in their order."""
        ...

    @property
    def strays(self) -> Mapping[Trap, int]:
        """Traps of the list itself."""
        ...

    def read(self, id: str, traps: Counter[Trap]) -> Found:
        """One incident; counts into `traps` what was odd. A `ValueError` says why it cannot be had."""
        ...

    def label(self, id: str, traps: Counter[Trap]) -> Label | None:
        """Its answer, if there is one."""
        ...

    def kind_of(self, service: str) -> str:
        """gateway, service, db, cache or queue."""
        ...


def open_source(name: str, folder: Path) -> Source:
    """The incidents of a folder as the adapter `name` reads them."""
    if name not in SOURCES:
        raise Unknown("source of incidents", name, SOURCES)
    if not folder.is_dir():
        raise ValueError(f"no folder {str(folder)!r} to read incidents from")
    source: Source = importlib.import_module(SOURCES[name]).open_folder(folder)
    return source


@dataclass(slots=True)
class Shelf:
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
    strays: dict[Trap, int] = field(default_factory=dict)

    def put(self, id: str, found: Found, label: Label | None, kind_of: Callable[[str], str] = lambda _: "service",
            traps: Mapping[Trap, int] | None = None) -> None:  # fmt: skip
        """Add an incident, and write everything that is known so far."""
        recording.check_id(id)
        if not found.records:
            raise ValueError(f"the incident {id} has no record")
        with _writing(self.folder):
            (self.folder / recording.FOLDER).mkdir(parents=True, exist_ok=True)
            recording.write_records(self.folder / recording.FOLDER / f"{id}.jsonl.gz", found.records)
        own, traps = _services(found.records), Counter(traps or {})
        self.kinds |= {name: kind_of(name) for name in sorted(own)}
        self.calls.update(_calls(found.records))
        if label is not None and label.root in own:
            self.labels[id] = label
        elif label is not None:
            traps[Trap.STRANGE_ROOT] += 1
        self.incidents[id] = _row(id, found, traps)
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
            "strays": self.strays,
        }

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """Every trap that was met, over all incidents."""
        total = Counter(self.strays)
        for row in self.incidents.values():
            total.update({Trap(kind): count for kind, count in row["warnings"].items()})
        return tuple(Warned(kind, MEANING[kind], total[kind]) for kind in Trap if total[kind])


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


def _row(id: str, found: Found, traps: Mapping[Trap, int]) -> dict[str, Any]:
    count = Counter(type(record) for record in found.records)
    return {
        "id": id,
        "started": found.started,
        "seconds": dict(zip(WINDOWS, found.seconds, strict=True)),
        "counts": {kind: count[made] for kind, made in recording.KINDS.items()},
        "warnings": {str(kind): traps[kind] for kind in Trap if traps.get(kind)},
    }


def _replace(path: Path, data: object) -> None:
    half = path.with_suffix(".part")
    half.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    half.replace(path)


def open_shelf(folder: Path, source: str, force: bool) -> Shelf:
    """The folder to write to: new, emptied by force, or one of an import that broke off, to go on with."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return Shelf(folder, source)
    hint = "choose another --out, or overwrite it with --force"
    if not (folder / INDEX).is_file():
        raise ValueError(f"{folder} exists and is no folder of recordings; choose another --out")
    if force:
        for old in (folder / recording.FOLDER).glob("*.jsonl.gz"):
            old.unlink()
        return Shelf(folder, source)
    data = recording.read_json(folder / INDEX)
    if data.get("format") != FORMAT or data.get("source") != source:
        raise ValueError(f"{folder} exists and holds other recordings; {hint}")
    try:
        return _continued(folder, source, data)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{folder / INDEX}: not an index of recordings ({what_is_wrong(error)}); {hint}") from error


def _continued(folder: Path, source: str, data: Mapping[str, Any]) -> Shelf:
    return Shelf(
        folder,
        source,
        kinds={row["name"]: row["kind"] for row in data["services"]},
        calls=Counter({(row["caller"], row["callee"]): row["count"] for row in data["calls"]}),
        incidents={row["id"]: row for row in data["incidents"]},
        labels=recording.read_labels(folder / LABELS),
        strays={Trap(kind): count for kind, count in data["strays"].items()},
    )


def import_incidents(
    source: Source, name: str, out: Path, force: bool = False, watch: Callable[[int], None] = lambda count: None
) -> Shelf:
    """Import what the folder does not hold yet. An incident that cannot be had is told of, and the others are kept."""
    shelf = open_shelf(out, name, force)
    missing = [id for id in source.ids if id not in shelf.incidents]
    if not missing:
        raise ValueError(f"{out} holds all {len(source.ids)} incidents already; import them again with --force")
    shelf.strays = dict(source.strays)
    for id in missing:
        traps: Counter[Trap] = Counter()
        try:
            found, label = source.read(id, traps), source.label(id, traps)
        except ValueError as error:
            shelf.broken[id] = str(error)
        else:
            shelf.put(id, found, label, source.kind_of, traps)
        watch(1)
    if not shelf.incidents:
        id, reason = next(iter(shelf.broken.items()))
        raise ValueError(f"none of the {len(missing)} incidents could be read; the first, {id}: {reason}")
    shelf.write()
    return shelf
