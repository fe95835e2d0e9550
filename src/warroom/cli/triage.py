"""`warroom triage`."""

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from warroom.cli.api import api_model_names, connect, prepare_models, with_api
from warroom.cli.options import Json
from warroom.cli.output import console, print_json, say
from warroom.cli.progress import bytes_bar
from warroom.cli.triage_report import as_json, show
from warroom.envs import make
from warroom.policies import policy_set
from warroom.policies.llm import ApiOptions
from warroom.policies.names import policies_in
from warroom.triage.changes import Report, report
from warroom.triage.log_file import STDIN, read_log, size_of
from warroom.triage.own_recording import Opinion, opinion_of, own_spec, write_recording

UNCHANGED = 3
"""Exit code: the log was read, and nothing changed beyond chance, or there was nothing to compare."""
REFUSED = {
    "human": "a person plays recordings with warroom play logs/recorded",
    "oracle": "the right answer for your log is not known",
}
"""Policies that cannot be asked here, and why."""


@with_api
def triage_command(
    *,
    api: ApiOptions | None,
    file: Annotated[str, typer.Argument(help="Log file, plain or gzipped; - for standard input.")],
    split_at: Annotated[
        str | None,
        typer.Option(
            "--split-at",
            "--since",
            help="Where the baseline ends, in the log's own time format. Default: where the counts change most.",
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(help="Also ask a policy for its diagnosis: llm:MODEL, or a scripted one. Default: counts only."),
    ] = None,
    json: Json = False,
) -> None:
    """Report what changed in a log of your system and when: counts of message templates against a baseline.

    Exit codes: 0 something changed, 2 invalid input, 3 nothing changed or nothing to compare.

    Example: warroom triage incident.log --split-at 10:15
    """
    if policy is not None:
        _check_policy(policy, file)
    if file == STDIN and sys.stdin.isatty():
        say("paste the log, then press Ctrl-D")
    with bytes_bar(size_of(file)) as watch:
        log = read_log(file, watch)
    found = report(log.counts, split_at)
    opinion = _opinion(policy, file, found, api) if policy is not None else None
    if json:
        print_json(as_json(file, log, found, opinion))
    else:
        show(console(), file, log, found, opinion)
    if not found.changed:
        raise typer.Exit(UNCHANGED)


def _check_policy(policy: str, file: str) -> None:
    """Refuse whom this command cannot ask."""
    for name in policies_in(policy):
        if name in REFUSED:
            raise ValueError(f"{name!r} cannot be asked about a log: {REFUSED[name]}")
    if file == STDIN:
        raise ValueError("a policy needs the log a second time: give a file in place of standard input")


def _opinion(policy: str, file: str, found: Report, api: ApiOptions | None) -> Opinion:
    names = api_model_names([policy_set("logs", policy)], api)
    with tempfile.TemporaryDirectory() as folder, connect(names, api) as client:
        note = write_recording(Path(folder), file, found)
        spec = own_spec(Path(folder))
        if client is not None:
            prepare_models(client, names, make(spec), {})
        return opinion_of(spec, policy_set("logs", policy, client), policy, note)
