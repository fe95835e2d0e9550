"""What real logs look like, and how the medians of quiet operations wander: what the drawn incidents are held against.

Import first: warroom import incidents nezha .../nezha_trainticket --out recordings
Then: python recipes/recorded_look.py recordings [.../nezha_onlineboutique_metrics]

A figure "a | b" is a standard deviation of the logarithm of a ratio of medians, and what chance alone would give there:
for windows of one minute, traces dealt to windows anew; for minutes, whole traces drawn again. `excess` is the root of
the difference of their squares. Takes a minute.
"""

import csv
import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import combinations
from math import log
from pathlib import Path
from random import Random
from statistics import fmean, median, pstdev, pvariance, quantiles
from typing import NamedTuple

from warroom.sim.recording import Archive, RecordedLine, Span, read_archive

Durations = dict[tuple[str, str], dict[str, list[float]]]
"""Logarithms of milliseconds by operation and trace."""
DEALS, RESAMPLES = 200, 100
TRACES, SPANS = 8, 15
"""Traces and spans that an operation needs in a window to be compared between minutes."""


class Minute(NamedTuple):
    """One window of a recording."""

    name: str
    start: float
    lines: list[RecordedLine]
    spans: list[Span]
    touched: frozenset[str]
    """The root of the fault and all that depend on it: not quiet."""


def minutes(archive: Archive) -> Iterator[Minute]:
    labels, seen = archive.labels(), set()
    for incident in archive.incidents:
        windows: dict[str, tuple[list[RecordedLine], list[Span]]] = {"before": ([], []), "now": ([], [])}
        for record in archive.records(incident):
            if isinstance(record, RecordedLine):
                windows[record.window][0].append(record)
            elif isinstance(record, Span) and record.request:
                windows[record.window][1].append(record)
        for window, (lines, spans) in windows.items():
            start = median(span.time for span in spans)
            if start not in seen:  # incidents of one day share their fault-free minute
                seen.add(start)
                faulty = window == "now"
                touched = depend_on(archive, labels[incident.id].root) if faulty else frozenset()
                yield Minute(incident.id if faulty else "fault-free", start, lines, spans, touched)


def depend_on(archive: Archive, service: str) -> frozenset[str]:
    found, grown = {service}, True
    while grown:
        above = {caller for caller, callee in archive.calls if callee in found}
        grown = not above <= found
        found |= above
    return frozenset(found)


# -- the look ------------------------------------------------------------------------------------------------


def look(minute: Minute, root: str) -> str:
    levels = Counter(line.level for line in minute.lines)
    by_trace: dict[str | None, list[RecordedLine]] = defaultdict(list)
    for line in minute.lines:
        by_trace[line.trace].append(line)
    counts = sorted(len(lines) for lines in by_trace.values())
    low, middle, high = quantiles(counts, n=4)
    services = fmean(len({line.service for line in lines}) for lines in by_trace.values())
    spread = quantiles(sorted(pstdev(all_of(traces)) for traces in long_enough(durations(minute.spans))), n=4)
    said = sum(line.level == "ERROR" for line in minute.lines if line.service == root)
    number = len(minute.lines)
    return (
        f"{minute.name:16} {number:5} lines, ERROR {100 * levels['ERROR'] / number:.2f} %, "
        f"WARN {100 * levels['WARN'] / number:.1f} %; lines a trace {fmean(counts):.0f} ({low:.0f} {middle:.0f} "
        f"{high:.0f}), services {services:.1f}; log-sd of durations {' '.join(f'{x:.2f}' for x in spread)}"
        + (f"; ERROR at the root {said}" if root else "")
    )


def long_enough(by_operation: Durations) -> Iterator[dict[str, list[float]]]:
    return (traces for traces in by_operation.values() if sum(map(len, traces.values())) >= 20)


def durations(spans: Iterable[Span]) -> Durations:
    found: Durations = defaultdict(lambda: defaultdict(list))
    for span in spans:
        found[span.service, span.operation][span.trace or ""].append(log(max(span.milliseconds, 0.05)))
    return found


def all_of(traces: Mapping[str, list[float]]) -> list[float]:
    return [value for values in traces.values() for value in values]


# -- wandering within a minute -----------------------------------------------------------------------------------


def within(minute: Minute, seconds: int, least: int) -> str:
    begun: dict[str, float] = {}
    for span in minute.spans:
        begun[span.trace or ""] = min(span.time, begun.get(span.trace or "", span.time))
    first = min(begun.values())
    windows = {trace: int((time - first) // seconds) for trace, time in begun.items()}
    by_operation = durations(minute.spans)
    steps = adjacent(by_operation, windows, least)
    rng, dealt = Random(1), []
    for _ in range(DEALS):
        order = list(windows.values())
        rng.shuffle(order)
        dealt.append(root_mean_square(adjacent(by_operation, dict(zip(windows, order, strict=True)), least)))
    found = root_mean_square(steps)
    above = sum(chance >= found for chance in dealt) / DEALS
    return f"  windows of {seconds} s: {compared(found, root_mean_square(dealt))}, {len(steps)} pairs, p {above:.2f}"


def adjacent(by_operation: Durations, windows: Mapping[str, int], least: int) -> list[float]:
    steps = []
    for traces in by_operation.values():
        by_window: dict[int, list[float]] = defaultdict(list)
        for trace, values in traces.items():
            by_window[windows[trace]] += values
        full = {window: median(values) for window, values in by_window.items() if len(values) >= least}
        steps += [full[window + 1] - full[window] for window in full if window + 1 in full]
    return steps


# -- wandering between minutes --------------------------------------------------------------------------------------


class Step(NamedTuple):
    """An operation's median in one minute against another."""

    apart: float
    """Minutes."""
    change: float
    chance: float
    """Variance of the change that drawing the traces again gives."""


def between(found: list[Minute]) -> Iterator[Step]:
    rng = Random(3)
    figures = [
        {operation: figure(traces, rng) for operation, traces in durations(minute.spans).items() if enough(traces)}
        for minute in found
    ]
    for (one, first), (other, second) in combinations(zip(found, figures, strict=True), 2):
        for operation in first.keys() & second.keys():
            if operation[0] not in one.touched | other.touched:
                (a, va), (b, vb) = first[operation], second[operation]
                yield Step(abs(one.start - other.start) / 60, b - a, va + vb)


def enough(traces: Mapping[str, list[float]]) -> bool:
    return len(traces) >= TRACES and len(all_of(traces)) >= SPANS


def figure(traces: Mapping[str, list[float]], rng: Random) -> tuple[float, float]:
    """The median, and its variance when whole traces are drawn again."""
    whole, again = list(traces.values()), []
    for _ in range(RESAMPLES):
        again.append(median(value for _ in whole for value in rng.choice(whole)))
    return median(all_of(traces)), pvariance(again)


def told(steps: list[Step], name: str) -> str:
    changes, chance = [step.change for step in steps], [step.chance for step in steps]
    robust = f"robust {compared(typical(changes), median(value**0.5 for value in chance))}"
    far = sum(abs(change) > 0.5 for change in changes) / len(changes)
    return (
        f"  {name:22} {compared(root_mean_square(changes), fmean(chance) ** 0.5)}; {robust}; "
        f"beyond .5 {100 * far:.0f} %, {len(steps)} pairs"
    )


# -- Online Boutique ------------------------------------------------------------------------------------------------


def boutique(folder: Path) -> Iterator[str]:
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
    last = max(datetime.fromisoformat(label["inject_time_utc"]).timestamp() for label in labels)
    for name in ("front_service", "source_50", "destination_50"):
        for column, series in columns(folder / "metric" / f"{name}.csv.gz", last + 600).items():
            if column.startswith("LatencyP") and "P50" not in column:
                continue
            middles = {m: log(median(series[m + k] for k in range(3))) for m in series if {m + 1, m + 2} <= set(series)}
            cells = []
            for lag in (3, 10, 60):
                steps = [middles[m + lag] - middles[m] for m in middles if m + lag in middles]
                cells.append(f"{root_mean_square(steps):.3f} | {typical(steps):.3f}")
            yield f"  {name:15} {column:42} {1000 * median(series.values()):6.1f} ms; {'; '.join(cells)}"


def columns(path: Path, after: float) -> dict[str, dict[int, float]]:
    """Each column by minute, from a time on."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            time = int(row.get("TimeStamp") or row["timestamp"])
            for column, text in row.items():
                if time > after and ("_" in column or column.startswith("LatencyP")) and text and float(text) > 0:
                    found[column][round(time / 60)] = float(text)
    return found


# -- figures ---------------------------------------------------------------------------------------------------------


def root_mean_square(values: Iterable[float]) -> float:
    return float(fmean([value * value for value in values] or [0.0]) ** 0.5)


def typical(values: Iterable[float]) -> float:
    """The standard deviation that the median of the absolute values would have if they were normal."""
    return median([abs(value) for value in values] or [0.0]) / 0.6745


def compared(found: float, chance: float) -> str:
    return f"{found:.3f} | {chance:.3f} -> excess {max(0.0, found**2 - chance**2) ** 0.5:.3f}"


def day(minute: Minute) -> str:
    return f"{datetime.fromtimestamp(minute.start, UTC):%m-%d}"


def main() -> None:
    archive = read_archive(Path(sys.argv[1]))
    labels, found = archive.labels(), list(minutes(archive))
    roots = {incident.id: labels[incident.id].root for incident in archive.incidents}
    print("look: ERROR and WARN, lines a trace (mean, quartiles), services a trace, quartiles of log-sd by operation")
    for minute in found:
        print(" ", look(minute, roots.get(minute.name, "")))
    silent = sum(all(x.level != "ERROR" for x in m.lines if x.service == roots[m.name]) for m in found if m.touched)
    print(f"  roots without an ERROR: {silent} of {len(roots)}")
    for minute in found:
        if not minute.touched:
            print(f"wandering within the fault-free minute of {day(minute)}")
            for seconds in (10, 20):
                print(within(minute, seconds, least=5))
    print(f"wandering between minutes, operations off the path of the fault with {SPANS} spans in {TRACES} traces")
    print(told(list(between([minute for minute in found if not minute.touched])), "the fault-free days"))
    steps = [step for name in sorted({day(m) for m in found}) for step in between([m for m in found if day(m) == name])]
    print(told(steps, "of one day"))
    for low, high in ((0, 10), (10, 40), (40, 80), (80, 160), (160, 400)):
        print(told([step for step in steps if low <= step.apart < high], f"{low} to {high} minutes"))
    if len(sys.argv) > 2:
        print("Online Boutique after its last fault: medians of 3 minutes, 3; 10; 60 minutes apart, plain | robust")
        print("\n".join(boutique(Path(sys.argv[2]))))


if __name__ == "__main__":
    main()
