"""`warroom triage`."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from warroom.cli.options import Json
from warroom.cli.output import console, print_json, say
from warroom.cli.progress import bytes_bar
from warroom.core.errors import UnknownName
from warroom.core.types import JsonObject
from warroom.triage.case import TriageCase, build_case
from warroom.triage.log_file import STDIN, read_log, size_of
from warroom.triage.topology import read_owners, read_topology
from warroom.triage.verdict import TriageResult, conclude_case

UNDETERMINED = 3
"""Exit code: the log was read, and nothing wrong was found, or trouble whose root cannot be told."""
EXPERT = "expert"
POLICIES = (EXPERT,)
MODELS = ("nano", "nano-warm", "hf:")
"""How the names of models begin."""
PATIENCE = 2.0
"""Seconds that reading may take before a bar shows."""
CONFIDENCE = ((0.95, "very sure"), (0.8, "fairly sure"), (0.5, "more likely than not"), (0.0, "a guess"))
"""From which probability on the confidence is called what."""
UNCALIBRATED = (
    "the confidence is that of a simulated world; on recordings of a real system it was too high (docs/triage.md)"
)
SURE = 0.99
"""As sure as a script may call itself: its probabilities hold in its own world and were not calibrated on real logs."""


def triage_command(
    *,
    file: Annotated[str, typer.Argument(help="Log file, plain or gzipped; - for standard input.")],
    topology: Annotated[
        Path | None,
        typer.Option(help="Service graph: a compose file, or a file of `warroom import topology`. Default: inferred."),
    ] = None,
    owners: Annotated[
        Path | None,
        typer.Option(help="Owners of services: YAML of service: team, or CSV. Default: by kind of service."),
    ] = None,
    policy: Annotated[str, typer.Option(help="Policy that analyses the log: expert, a script.")] = EXPERT,
    split_at: Annotated[
        str | None,
        typer.Option(
            "--split-at", "--since", help="Start of the incident, in the log's own time format. Default: detected."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Analyse a log of your system: severity, root cause, team to page, remedy, confidence, evidence.

    Exit codes: 0 root cause found, 2 invalid input, 3 no problem found or root cause undetermined.

    Example: warroom triage incident.log --topology compose.yaml --split-at 10:15
    """
    check_policy(policy)
    known = read_topology(topology) if topology is not None else None
    teams = read_owners(owners) if owners is not None else {}
    if file == STDIN and sys.stdin.isatty():
        say("paste the log, then press Ctrl-D")
    with bytes_bar(size_of(file)) as watch:
        log = read_log(file, known.kinds if known is not None else (), watch)
    case = build_case(log, known, teams, split_at)
    verdict = TriageReport(case, conclude_case(case))
    if json:
        print_json(verdict.as_json(file))
    else:
        verdict.show()
    if not verdict.diagnosis.roots:
        raise typer.Exit(UNDETERMINED)


def check_policy(policy: str) -> None:
    """Refuse whom this command cannot ask."""
    if policy.startswith(MODELS):
        raise ValueError(
            f"{policy!r} is a model, and models cannot read pasted logs yet: they read the pages of an environment; "
            f"leave --policy out, or give one of: {', '.join(POLICIES)}"
        )
    if policy not in POLICIES:
        raise UnknownName("policy for triage", policy, POLICIES)


class TriageReport:
    """What was concluded of a log, for people and for programs."""

    def __init__(self, case: TriageCase, conclusion: TriageResult) -> None:
        self.case, self.conclusion, self.diagnosis = case, conclusion, conclusion.diagnosis
        self.shown = case.evidence_lines(self.diagnosis.roots or list(self.suspects))
        self.no_severity = case.reason_without_severity()
        self.probability = min(conclusion.confidence, SURE)

    @property
    def suspects(self) -> dict[str, float]:
        """Where the trouble may be, with probabilities, if there is some and no root stands out."""
        unclear = self.conclusion.users_affected and not self.diagnosis.roots
        return self.conclusion.suspects if unclear else {}

    @property
    def severity(self) -> str | None:
        """How bad it is; None where nothing is wrong or the lines do not tell."""
        bad = self.diagnosis.roots or self.conclusion.users_affected
        return self.diagnosis.severity if bad and not self.no_severity else None

    @property
    def evidence(self) -> list[str]:
        """The figures behind the conclusion, without those that were assumed or cannot be known."""
        told = [one for one in self.diagnosis.evidence if not (self.no_severity and one.startswith("users:"))]
        if self.case.split.before is not None:
            return told
        return [re.sub(r" \(before [^)]*\)", "", sentence) for sentence in told]

    @property
    def confidence(self) -> str:
        """The confidence in words and as a number: that the roots are right, or that nothing is wrong."""
        words = next(words for least, words in CONFIDENCE if self.probability >= least)
        given = "" if self.case.split.before is not None else ", if the time before these lines was ordinary"
        capped = f", kept low since {'; '.join(self.conclusion.caveats)}" if self.conclusion.caveats else ""
        return f"{words} ({100 * self.probability:.0f}%){self._of_whom}{given}{capped}"

    @property
    def _of_whom(self) -> str:
        unclear = not self.diagnosis.roots and not self.conclusion.healthy
        return f" that it is {next(iter(self.conclusion.suspects))}" if unclear else ""

    @property
    def undetermined(self) -> str:
        """Why no root is named: all seems well, or it cannot be told."""
        likeliest = ", ".join(f"{name} ({100 * share:.0f}%)" for name, share in self.conclusion.suspects.items())
        suspects = f"; the likeliest: {likeliest}" if likeliest else ""
        if self.conclusion.users_affected:
            return f"cannot be told: users fare badly, and no service stands out{suspects}"
        if self.conclusion.healthy:
            return "none: nothing in these lines speaks for trouble"
        return f"cannot be told: too little in these lines speaks for or against trouble{suspects}"

    @property
    def warnings(self) -> list[str]:
        """What the reader must know to trust the result, or not."""
        assumed = "no earlier lines to compare with: an ordinary time without failures is assumed before them"
        own = [*self.conclusion.caveats, *self.conclusion.notes]
        notes = [*own, *self.case.warnings, *([assumed] if self.case.split.before is None else [])]
        return [*notes, UNCALIBRATED] if self.diagnosis.roots else notes

    def as_json(self, file: str) -> JsonObject:
        """One object for a program."""
        found, case = self.diagnosis, self.case
        return {
            "file": file,
            "decided_by": "a script (expert)",
            "found": bool(found.roots),
            "trouble": self.conclusion.users_affected or bool(found.roots),
            "severity": self.severity,
            "severity_unknown": self.no_severity or None,
            "roots": list(found.roots),
            "suspects": self.suspects,
            "cause": self.conclusion.cause if found.roots else None,
            "team": found.team or None,
            "teams": list(found.teams),
            "remedy": self.conclusion.remedy.action or None,
            "remedy_reason": self.conclusion.remedy.reason or None,
            "confidence": round(self.probability, 3),
            "confidence_words": self.confidence,
            "evidence": self.evidence,
            "lines": [{"number": line.number, "line": line.line, "like_it": line.similar} for line in self.shown],
            "split": {
                "how": case.split.how,
                "before": case.times(case.split.before),
                "now": case.times(case.split.now),
            },
            "topology": {
                "source": case.service_graph.source,
                "services": {entry.name: list(entry.calls) for entry in case.catalogue.entries},
            },
            "read": {
                "lines": case.log.lines,
                "formats": dict(case.log.formats),
                "stack_trace_lines": case.log.continuation_lines,
                "unread": case.log.unparsed_lines,
            },
            "warnings": self.warnings,
        }

    def show(self) -> None:
        """The verdict for a person: what first, then why, then how the log was read."""

        screen = console()
        for name, answer in self._answers():
            screen.print(Text.assemble((f"{name:<11}", "bold"), answer), soft_wrap=True)
        for title, lines in self._sections():
            if lines:
                screen.print(Text(f"\n{title}", "bold"))
                for line in lines:
                    screen.print(Text(f"  {line}"), soft_wrap=True)

    def _answers(self) -> Iterator[tuple[str, str]]:
        found = self.diagnosis
        if self.case.unparsed_warning:
            yield "unread", f"{self.case.unparsed_warning}: what follows rests on the rest"
        if found.roots or self.conclusion.users_affected:
            yield "severity", self.severity or f"unknown: {self.no_severity}"
        if found.roots:
            unknown = "cause " if self.conclusion.cause == "unknown" else ""
            yield "root cause", f"{' and '.join(found.roots)} ({unknown}{self.conclusion.cause})"
            yield "team", ", then ".join(found.teams)
            yield "remedy", self._remedy
        else:
            yield "root cause", self.undetermined
        yield "confidence", self.confidence
        yield "decided by", "a script (expert)"

    @property
    def _remedy(self) -> str:
        remedy = self.conclusion.remedy
        if remedy.action:
            return f"{remedy.action} {self.diagnosis.roots[0]}{f': {remedy.reason}' if remedy.reason else ''}"
        if self.conclusion.cause == "unknown":
            return "none: no cause was recognised, so page the team"
        return "none of the usual: wait and page the team"

    def _sections(self) -> Iterator[tuple[str, list[str]]]:
        read = f"{self.case.log.lines:,} lines as {', '.join(self.case.log.formats)}"
        traces = f", {self.case.log.continuation_lines:,} of stack traces" if self.case.log.continuation_lines else ""
        yield "why", self.evidence
        yield "lines", [f"{line.number}: {line.line}{_more(line.similar)}" for line in self.shown]
        yield (
            "how it was read",
            [read + traces, f"split {self.case.split.how}", f"topology {self.case.service_graph.source}"],
        )
        yield "beware", self.warnings


def _more(similar: int) -> str:
    return f"  (and {similar - 1:,} like it)" if similar > 1 else ""
