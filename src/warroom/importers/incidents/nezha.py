"""The adapter for folders of the data set Nezha (Yu et al., ESEC/FSE 2023): faults injected into live Train Ticket.

A folder holds `incidents.jsonl`, one object a line with id, abnormal_minute_utc and the paths of log, trace,
pod_metrics and baseline (a folder with the log and trace of a fault-free minute); and, for those that are to be graded,
`labels.jsonl`.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from warroom.core.errors import quote_input
from warroom.importers.incidents.recording import ParsedIncident, RecordingIssue
from warroom.sim.recording import LEVELS, Label, Line, MetricSample, Record, Span, check_id, text_lines

MINUTE = 60.0
"""Seconds: the source calls each of its windows a minute."""
ONSET_UNCERTAINTY_SECONDS = 120
"""Seconds before the abnormal minute in which the fault may have begun: it is two minutes after the injection."""
METRIC_LAG_SECONDS = 120
"""Seconds from the abnormal minute on whose metrics count as now: gauges are averages over a minute and lag by one."""
LONGEST_FIELD = 131_072
"""Characters of one field of a file."""
MIN_BASELINE_ROWS = 3
"""Metric rows before the fault that it takes to say what is usual."""
GAUGES = {
    "CpuUsageRate(%)": "cpu %",
    "MemoryUsageRate(%)": "memory %",
    "NetworkReceiveBytes": "received bytes",
    "NodeCpuUsageRate(%)": "node cpu %",
}
"""Columns of the metrics that are taken, and what they are called here."""
_KEYS = ("id", "abnormal_minute_utc", "log", "trace", "pod_metrics", "baseline")
_POD = re.compile(r"-[0-9a-f]{8,10}-[0-9a-z]{5}$")
_HEAD = re.compile(rf"(\d\d):\d\d:\d\d\.\d+ +(?:({'|'.join(LEVELS)})\b *)?")
_IDS = re.compile(r"TraceID: \w* SpanID: \w* *")
_WHEN = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)? \+0000 UTC( m=[-+][\d.]+)?$")

IssueCounts = Counter[RecordingIssue]


class RawSpan(NamedTuple):
    """A span as the source has it."""

    trace: str
    parent: str
    service: str
    operation: str
    start: float
    milliseconds: float


class ParsedWindow(NamedTuple):
    """What the log and the trace of one minute come to."""

    records: tuple[Record, ...]
    started: float
    """When the minute begins that holds most of the lines."""
    issues: IssueCounts


def open_folder(folder: Path) -> "Nezha":
    """The incidents of a folder."""
    return Nezha(folder)


class Nezha:
    """A folder of incidents, read one by one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rows, twice = _by_id(folder / "incidents.jsonl")
        self._rows = rows
        labels = folder / "labels.jsonl"
        self._labels = _by_id(labels)[0] if labels.exists() else {}
        self._before: dict[Path, ParsedWindow] = {}
        """The fault-free minute that was read last: incidents of one day share it."""
        self.index_issues = {
            RecordingIssue.ORPHAN_LABEL: len(self._labels.keys() - rows.keys()),
            RecordingIssue.DUPLICATE: twice,
        }

    @property
    def ids(self) -> tuple[str, ...]:
        """All incidents in the order of the list."""
        return tuple(self._rows)

    def kind_of(self, service: str) -> str:
        """The gateway is known by its name; stores have no pods of their own here."""
        return "gateway" if "gateway" in service else "service"

    def label(self, id: str, issues: IssueCounts) -> Label | None:
        """The root service and the type of the fault."""
        row = self._labels.get(id)
        if row is None:
            issues[RecordingIssue.NO_LABEL] += 1
            return None
        if "root_cause_service" not in row or "fault_type" not in row:
            raise ValueError(f"{self.folder / 'labels.jsonl'}: the label lacks root_cause_service or fault_type")
        issues[RecordingIssue.INJECT_TIMESTAMP] += _timestamps_disagree(row)
        return Label(str(row["root_cause_service"]), str(row["fault_type"]))

    def read(self, id: str, issues: IssueCounts) -> ParsedIncident:
        """Both minutes and the metrics around them."""
        row = self._rows[id]
        missing = [key for key in _KEYS if not isinstance(row.get(key), str)]
        if missing:
            raise ValueError(f"incidents.jsonl: {id} lacks {', '.join(missing)}")
        baseline = self.folder / row["baseline"]
        if baseline not in self._before:
            self._before = {baseline: _minute("before", _only(baseline, "log"), _only(baseline, "trace"))}
        before = self._before[baseline]
        now = _minute("now", self.folder / row["log"], self.folder / row["trace"])
        issues.update(before.issues + now.issues)
        metrics = list(_samples(self.folder / row["pod_metrics"], _seconds(row["abnormal_minute_utc"]), issues))
        records = (*before.records, *now.records, *metrics)
        told = {record.service for record in records if isinstance(record, Line)}
        issues[RecordingIssue.NO_LOGS] += len({record.service for record in records} - told)
        if not told:
            raise ValueError(f"{self.folder / row['log']} and {baseline} hold no line")
        return ParsedIncident(now.started, (MINUTE, MINUTE), records)


def _by_id(path: Path) -> tuple[dict[str, dict[str, Any]], int]:
    """Objects of a file by their id, and how many came a second time."""
    found: dict[str, dict[str, Any]] = {}
    twice = 0
    for number, text in text_lines(path):
        try:
            row = json.loads(text)
            check_id(row["id"])
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(
                f"{path}, line {number}: want a JSON object with an id, got {quote_input(text)}"
            ) from error
        twice += row["id"] in found
        found.setdefault(row["id"], row)
    return found, twice


def _timestamps_disagree(row: Mapping[str, Any]) -> bool:
    """Whether the label's two times of the injection are not one."""
    verbatim = row.get("verbatim") or {}
    if "inject_time" not in verbatim or "inject_timestamp" not in verbatim:
        return False
    return _seconds(verbatim["inject_time"]) != float(verbatim["inject_timestamp"])


def _seconds(text: str) -> float:
    """A time of day in UTC, whether it says so or not, as seconds since 1970."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def _only(folder: Path, kind: str) -> Path:
    found = sorted(folder.glob(f"*_{kind}.csv*"))
    if len(found) != 1:
        raise ValueError(f"{folder} must hold one *_{kind}.csv.gz, holds {len(found)}")
    return found[0]


def _rows(path: Path, *columns: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of a CSV file that has these columns, with their line numbers."""
    csv.field_size_limit(LONGEST_FIELD)  # the library's own is one for the whole process, and others set it
    reader = csv.DictReader(text for _, text in text_lines(path))
    missing = [column for column in columns if column not in (reader.fieldnames or ())]
    if missing:
        raise ValueError(f"{path} lacks the columns {', '.join(missing)}; has {', '.join(reader.fieldnames or ())}")
    try:
        for row in reader:
            if any(row[column] is None for column in columns):
                raise ValueError(f"{path}, line {reader.line_num}: fewer fields than the header names")
            yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}") from error


def _number(path: Path, line: int, row: Mapping[str, str], column: str) -> float:
    try:
        return float(row[column])
    except ValueError as error:
        raise ValueError(f"{path}, line {line}: {column} must be a number, got {quote_input(row[column])}") from error


def _service(pod: str) -> str:
    """The service of a pod: its name without the hashes that a deployment adds."""
    return _POD.sub("", pod)


def _minute(window: str, log: Path, trace: Path) -> ParsedWindow:
    """Lines and spans of a window, and when the minute begins that holds most of the lines."""
    lines, failing, issues = [], set(), IssueCounts()
    for number, row in _rows(log, "Timestamp", "TimeUnixNano", "PodName", "TraceID", "SpanID", "Log"):
        line = _line(window, row, _number(log, number, row, "TimeUnixNano") / 1e9, issues)
        lines.append(line)
        if line.level in ("ERROR", "FATAL"):
            failing.add(row["SpanID"])
    started = _densest([line.time for line in lines])
    issues[RecordingIssue.OUTSIDE_MINUTE] += sum(not started <= line.time < started + MINUTE for line in lines)
    return ParsedWindow((*lines, *_spans(window, trace, failing, issues)), started, issues)


def _densest(times: list[float]) -> float:
    """Where the minute begins that holds most of these times."""
    times = sorted(times)
    best, last = (0, 0.0), 0
    for first, start in enumerate(times):
        while last < len(times) and times[last] < start + MINUTE:
            last += 1
        best = max(best, (last - first, -start))
    return -best[1]


def _line(window: str, row: Mapping[str, str], time: float, issues: IssueCounts) -> Line:
    text = _unwrapped(row["Log"], issues)
    head = _HEAD.match(text)
    if head is not None:
        text = text[head.end() :]
        issues[RecordingIssue.LOCAL_TIME] += head[1] != f"{datetime.fromtimestamp(time, UTC):%H}"
    level = (head and head[2]) or ""
    issues[RecordingIssue.NO_LEVEL] += not level
    issues[RecordingIssue.TWO_TIMES] += abs(_seconds(row["Timestamp"]) - time) > 1
    text = " ".join(_IDS.sub("", text).split())
    return Line(window, time, _service(row["PodName"]), level, text, row["TraceID"] or None)


def _unwrapped(log: str, issues: IssueCounts) -> str:
    """The line inside docker's JSON."""
    if not log.startswith("{"):
        return log
    issues[RecordingIssue.JSON_IN_CSV] += 1
    try:
        return str(json.loads(log)["log"])
    except (ValueError, KeyError):
        issues[RecordingIssue.CUT_JSON] += 1
        return log.removeprefix('{"log":"')


def _spans(window: str, path: Path, failing: set[str], issues: IssueCounts) -> Iterator[Span]:
    """The spans of a window. A request failed if its service wrote an ERROR in it: the source has no status."""
    spans = {row["SpanID"]: _raw_span(path, number, row) for number, row in _rows(
        path, "TraceID", "SpanID", "ParentID", "PodName", "OperationName", "StartTimeUnixNano", "Duration"
    )}  # fmt: skip
    failed = {_request(id, spans) for id in failing if id in spans}
    issues[RecordingIssue.MICROSECONDS] += len(spans)
    for id, work in spans.items():
        above = spans.get(work.parent)
        issues[RecordingIssue.ROOT_PARENT if work.parent == "root" else RecordingIssue.ORPHAN] += above is None
        outside = above is None or above.service != work.service
        issues[RecordingIssue.NO_STATUS] += outside
        yield Span(
            window, work.start, work.service, work.operation, work.milliseconds,
            parent=above and above.service,
            waited=above.milliseconds if above and outside else None,
            failed=id in failed if outside else None,
            trace=work.trace,
        )  # fmt: skip


def _raw_span(path: Path, line: int, row: Mapping[str, str]) -> RawSpan:
    start = _number(path, line, row, "StartTimeUnixNano") / 1e9
    milliseconds = _number(path, line, row, "Duration") / 1000
    return RawSpan(row["TraceID"], row["ParentID"], _service(row["PodName"]), row["OperationName"], start, milliseconds)


def _request(id: str, spans: Mapping[str, RawSpan]) -> str:
    """The span in which the service of a span was called."""
    seen = {id}
    while (above := spans[id].parent) in spans and spans[above].service == spans[id].service and above not in seen:
        seen.add(above)
        id = above
    return id


def _samples(path: Path, minute: float, issues: IssueCounts) -> Iterator[MetricSample]:
    """The metrics well before the abnormal minute, and those of it and the next."""
    rows: Counter[str] = Counter()
    for number, row in _rows(path, "Time", "PodName", *GAUGES):
        service, time = _service(row["PodName"]), _when(path, number, row["Time"], issues)
        window = (
            "before"
            if time < minute - ONSET_UNCERTAINTY_SECONDS
            else "now"
            if minute <= time < minute + METRIC_LAG_SECONDS
            else None
        )
        rows[service] += window == "before"
        issues[RecordingIssue.AMBIGUOUS_MINUTE] += minute - ONSET_UNCERTAINTY_SECONDS <= time < minute
        for column, name in GAUGES.items() if window else ():
            if row[column]:
                yield MetricSample(window or "", time, service, name, _number(path, number, row, column))
            else:
                issues[RecordingIssue.NO_VALUE] += 1
    issues[RecordingIssue.FEW_MINUTES] += sum(count < MIN_BASELINE_ROWS for count in rows.values())


def _when(path: Path, line: int, text: str, issues: IssueCounts) -> float:
    """A time as Go prints it, whose monotonic part says nothing here."""
    parts = _WHEN.match(text)
    if parts is None:
        raise ValueError(
            f"{path}, line {line}: Time must look like 2023-01-29 08:41:46.5 +0000 UTC, got {quote_input(text)}"
        )
    issues[RecordingIssue.MONOTONIC] += parts[2] is not None
    return _seconds(parts[1])
