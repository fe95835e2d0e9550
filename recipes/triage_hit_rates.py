"""How often each scripted policy names the right service from the lines of a log alone, through `warroom triage`.

Import first: warroom import incidents nezha .../nezha_trainticket --out recordings
Then: python recipes/triage_hit_rates.py recordings

Each incident becomes one log: the lines of its fault-free minute, then those of the faulty one; traces, metrics and
the call graph are left out. The baseline is the first minute. The last column is a fault-free minute, split in its
middle: whoever names a service there is wrong.
"""

import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from warroom.cli.triage import REFUSED
from warroom.envs import env_spec
from warroom.policies import policy_set
from warroom.sim.recording import Archive, RecordedIncident, RecordedLine, read_archive
from warroom.triage.changes import report
from warroom.triage.log_file import read_log
from warroom.triage.own_recording import MEASURED, HitRate, Opinion, opinion_of, own_spec, write_recording


def log_of(archive: Archive, incident: RecordedIncident, path: Path, windows: tuple[str, ...]) -> float:
    """Write the lines of some windows, one after another in time; returns when the last window begins."""
    lines = [record for record in archive.records(incident) if isinstance(record, RecordedLine)]
    last, out = 0.0, list[str]()
    for window in windows:
        chosen = sorted((line.time, line.service, line.level, line.text) for line in lines if line.window == window)
        begun = max(chosen[0][0], last + 1)
        for time, service, level, text in chosen:
            last = begun + time - chosen[0][0]
            out.append(f"{service} | {datetime.fromtimestamp(last, UTC).isoformat()} {level} {text}\n")
    path.write_text("".join(out))
    return begun if len(windows) > 1 else (begun + last) / 2


def opinion(log: Path, split: float, policy: str) -> Opinion:
    found = report(read_log(str(log)).counts, datetime.fromtimestamp(split, UTC).strftime("%H:%M:%S"))
    with tempfile.TemporaryDirectory() as folder:
        note = write_recording(Path(folder), str(log), found)
        return opinion_of(own_spec(Path(folder)), policy_set("logs", policy), policy, note)


def main() -> None:
    archive = read_archive(Path(sys.argv[1]))
    labels, log = archive.labels(), Path(tempfile.mkdtemp()) / "incident.log"
    policies = [name for name in env_spec("logs").policies if name not in REFUSED]
    rates, calm = {name: Counter[str]() for name in policies}, Counter[str]()
    days = {datetime.fromtimestamp(one.started, UTC).date(): one for one in archive.incidents}
    for incident in archive.incidents:
        split = log_of(archive, incident, log, ("before", "now"))
        for name in policies:
            roots = opinion(log, split, name).roots
            rates[name]["silent" if not roots else "right" if roots[0] == labels[incident.id].root else "wrong"] += 1
    for incident in days.values():
        split = log_of(archive, incident, log, ("before",))
        calm.update(name for name in policies if opinion(log, split, name).roots)
    print("| policy | right | wrong | silent | named a service where nothing was wrong |\n|---|---|---|---|---|")
    for name, rate in rates.items():
        print(f"| {name} | {rate['right']} | {rate['wrong']} | {rate['silent']} | {calm[name]} of {len(days)} |")
        measured = HitRate(rate["right"], rate["wrong"], rate.total())
        if MEASURED.get(name) != measured:
            print(f"MEASURED lacks {name!r}: {measured!r}", file=sys.stderr)


if __name__ == "__main__":
    main()
