"""`warroom eval`."""

import os
import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from warroom.cli import heavy
from warroom.cli.api import api_model_names, connect, prepare_models, with_api
from warroom.cli.flags import env_options, with_env_options
from warroom.cli.options import SUITES, Json, Split
from warroom.cli.output import command_line, print_json, say
from warroom.cli.progress import progress
from warroom.cli.summary import print_summary
from warroom.core.errors import RunStopped
from warroom.core.options import Options
from warroom.core.splits import seed_of
from warroom.envs import make
from warroom.evals.plan import Plan, applicable_scenarios, parse_policies, parse_seeds, scenarios_of, split_commas
from warroom.policies import hf, llm
from warroom.policies.llm import ApiOptions
from warroom.runs import Record, check_folder, git_commit, now, open_run

if TYPE_CHECKING:
    from warroom.policies.llm.client import LLMClient

RECORDED_TIER = "medium"
"""The tier of recordings: they are as hard as they are, and three tiers would play each three times."""
USUAL_SEEDS = "5"
UNFINISHED, INTERRUPTED = 3, 130
"""Exit codes of a run that lacks episodes, for a cap or for a server's failures, and of one that Ctrl-C stopped."""
Policies = Annotated[
    str, typer.Option(help="Policies, comma-separated; a team such as oversight=expert,rest=heuristic counts as one.")
]
Tiers = Annotated[
    str | None,
    typer.Option(help="Tiers, comma-separated. Default: easy,medium,hard; medium only with --recording or --kb."),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        help="Incidents of the split: a count, a list (0,3,7) or a range (10-19). Default: 5; all of them with --kb "
        "or --recording."
    ),
]
Suite = Annotated[str | None, typer.Option(help="Suite of scenarios; see `warroom list`. With --kb only `imported`.")]
Scenarios = Annotated[str | None, typer.Option(help="Scenarios by name, comma-separated, instead of a suite.")]
Attempts = Annotated[int, typer.Option(min=1, help="Episodes per incident and policy, for policies that sample.")]
Roc = Annotated[
    bool,
    typer.Option(
        "--roc", help="ROC curve of a model in the oversight seat; replays its episodes to score every threshold."
    ),
]


@with_api
@with_env_options
def eval_command(
    given: Mapping[str, Any],
    api: ApiOptions | None,
    env: Annotated[str, typer.Option(help="Environment.")] = "fleet",
    policies: Policies = "random,heuristic,expert,oracle",
    tiers: Tiers = None,
    seeds: Seeds = None,
    split: Split = "test",
    suite: Suite = None,
    scenarios: Scenarios = None,
    out: Annotated[Path | None, typer.Option(help="Run folder. Default: runs/eval-ENV-DATE-TIME.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in --out.")] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of worker processes. Default: one per core.")
    ] = None,
    attempts: Attempts = 1,
    baseline: Annotated[
        str | None, typer.Option(help="Policy to compare with. Default: heuristic, if it plays.")
    ] = None,
    roc: Roc = False,
    open_report: Annotated[bool, typer.Option("--open", help="Open the report in a browser when done.")] = False,
    json: Json = False,
) -> None:
    """Evaluate policies on a matrix of scenarios, tiers and seeds; write metrics, plots and a report.

    Example: warroom eval --policies heuristic,expert --tiers hard --seeds 20 --out runs/hard
    """
    publish = heavy.publish.publish  # without its libraries an evaluation fails before it is played
    options = env_options(env, given)
    levels = split_commas(tiers or (RECORDED_TIER if SUITES.keys() & given.keys() else "easy,medium,hard"))
    indices = parse_seeds(seeds or _usual_seeds(given))
    chosen = _scenarios(env, _suite(suite, given), scenarios, (levels, indices, split), options)
    plan = _plan(
        env, chosen, levels, parse_policies(policies), indices,
        split=split, attempts=attempts, options=options, baseline=baseline,
    )  # fmt: skip
    if roc:
        heavy.roc.overseer_policies(plan)  # a plan without a curve fails before it is played
    behind = api_model_names(plan.policy_sets().values(), api)
    folder = out or Path("runs") / f"eval-{env}-{datetime.now():%Y%m%d-%H%M%S}"
    try:
        with connect(behind, api, folder, resume) as client:
            _play(plan, folder, (_typed(out, folder, False), _typed(out, folder, True)), resume, workers, client)
        if roc:
            _score(plan, folder)
        summary = publish(folder)
    except KeyboardInterrupt:
        say(f"\nStopped; finished episodes are saved. Resume with:\n  {_typed(out, folder, resume=True)}", "yellow")
        raise typer.Exit(INTERRUPTED) from None
    if json:
        print_json(summary)
    else:
        print_summary(summary, folder)
    if open_report and not os.environ.get("CI"):
        webbrowser.open((folder / "report.html").resolve().as_uri())


def _plan(
    env: str,
    scenarios: tuple[str, ...],
    tiers: tuple[str, ...],
    policies: tuple[str, ...],
    seeds: tuple[int, ...],
    baseline: str | None,
    **more: Any,
) -> Plan:
    """The checked plan, with a baseline wherever the usual one plays."""
    plan = Plan(
        env, scenarios, tiers, policies, seeds, baseline=baseline or heavy.publish.default_baseline(policies), **more
    )
    _validate_plan(plan)
    return plan


def _validate_plan(plan: Plan) -> None:
    """Build the first incident and the one of the highest seed, before a folder is made.

    Options from which none can be built are refused by then, and seeds beyond the last incident of a folder.
    """
    matrix = plan.matrix()
    for one in dict.fromkeys((matrix[0], max(matrix, key=lambda key: key.spec.seed))):
        try:
            make(one.spec)
        except ValueError as error:
            error.add_note(f"while {one.policy} played {one.spec}")
            raise


def _usual_seeds(options: Mapping[str, Any]) -> str:
    """A handful of what can be drawn without end, or each ticket or recorded incident of a folder once."""
    if "kb" in options:
        return str(len(heavy.imported.playable_knowledge_base(str(options["kb"])).cases))
    if "recording" in options:
        return str(len(heavy.recorded.playable(Path(options["recording"]))))
    return USUAL_SEEDS


def _suite(named: str | None, options: Mapping[str, Any]) -> str | None:
    """The suite that was named, else the one that the options ask for."""
    if "kb" not in options:
        return named

    imported = SUITES["kb"]
    if named not in (None, imported):
        raise ValueError(f"--kb plays the suite {imported!r} and no other, got {named!r}; leave --suite out")
    return imported


def _scenarios(
    env: str,
    suite: str | None,
    named: str | None,
    played: tuple[tuple[str, ...], tuple[int, ...], str],
    options: Options,
) -> tuple[str, ...]:
    """Scenarios that were named, else those of the suite that the topology can carry; the others are told.

    `played` holds the tiers, the indices of the incidents and their split.
    """
    wanted = scenarios_of(env, suite, named)
    if named is not None:
        return wanted
    tiers, indices, split = played
    fitting, left_out = applicable_scenarios(wanted, tiers, [seed_of(split, index) for index in indices], options)
    for scenario, reason in left_out.items():
        say(f"note: {scenario} is skipped: {reason}", "yellow")
    if not fitting:
        raise ValueError("no scenario of the suite is possible on this topology; see the notes above")
    return fitting


def _typed(out: Path | None, folder: Path, resume: bool) -> str:
    """The command as it was typed, made to name its folder."""
    more = [] if out else ["--out", str(folder)]
    return command_line(*more, *(["--resume"] if resume and "--resume" not in sys.argv else []))


def _play(
    plan: Plan, folder: Path, typed: tuple[str, str], resume: bool, workers: int | None, client: "LLMClient | None"
) -> None:
    """Play what is missing. `typed` is the command that began the run, and the one that goes on with it."""
    record = _record(plan, typed[0], client)
    if client is not None:
        record = _with_call_formats(plan, folder, record, resume, client)
    with open_run(folder, record, resume) as run:
        for note in run.notes:
            say(f"note: {note}", "yellow")
        already = sum(run.played.values())
        say(f"{len(plan)} episodes" + (f", {already} already played" if already else "") + f" -> {folder}")
        if client is not None:
            client.keep(folder)
        try:
            with progress("episodes", len(plan), already) as watch:
                unplayed = heavy.run.play_plan(plan, run, workers, watch, client)
        except RunStopped as stop:
            say(f"\nStopped: {stop}", "yellow")
            _unfinished(len(plan), sum(run.played.values()), typed[1], ", with a higher cap where one was reached,")
        if unplayed:
            first = next(iter(unplayed.values()))
            say(f"\n{len(unplayed)} of {len(plan)} episodes could not be played; the first failure: {first}", "red")
            _unfinished(len(plan), sum(run.played.values()), typed[1])


def _with_call_formats(plan: Plan, folder: Path, record: Record, resume: bool, client: "LLMClient") -> Record:
    """The record with what is known of the models behind the server, after a call of each; nothing is written yet."""
    before, first = check_folder(folder, record, resume), plan.matrix()[0]
    env = make(first.spec)
    names = api_model_names(plan.policy_sets().values(), client.api)
    found = prepare_models(client, names, env, before.policy_status if before is not None else {})
    return replace(record, policy_status=record.policy_status | found)


def _unfinished(planned: int, finished: int, again: str, how: str = "") -> NoReturn:
    say(f"{finished} of {planned} episodes are finished and saved. Resume{how} with:\n  {again}", "yellow")
    raise typer.Exit(UNFINISHED)


def _score(plan: Plan, folder: Path) -> None:
    names = heavy.roc.overseer_policies(plan)
    with progress("scored episodes", sum(key.policy in names for key in plan.matrix())) as watch:
        heavy.roc.write_roc(folder, plan, watch)


def _record(plan: Plan, command: str, client: "LLMClient | None" = None) -> Record:
    models = [
        name
        for policy_set in plan.policy_sets().values()
        for name in policy_set.models.values()
        if not llm.is_llm(name)
    ]
    status = hf.policy_status(models)
    # Part of the configuration: a run does not go on with other weights under the same name.
    weights = {"weights": {name: found["sha256"] for name, found in status.items()}} if status else {}
    asked = {"api": client.api.play} if client is not None else {}
    return Record(
        kind="eval",
        command=command,
        config=plan.config() | weights | asked,
        split=plan.split,
        seeds=list(plan.seeds),
        policies=list(plan.policies),
        planned=len(plan),
        started=now(),
        commit=git_commit(),
        versions=(hf.versions() if status else {}) | (client.versions if client is not None else {}),
        policy_status=status,
    )
