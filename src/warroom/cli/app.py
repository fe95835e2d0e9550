"""The command `warroom`: the table of its verbs, each imported when it runs or shows its help."""

import os
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import typer

import warroom
from warroom.cli.lazy import LazyGroup, Verb
from warroom.cli.output import say
from warroom.core.errors import NotInstalled
from warroom.core.secrets import register_environment
from warroom.core.signals import exit_code

WRONG_INPUT = 2
"""Exit code for invalid input."""


PANELS: Mapping[str, tuple[str, ...]] = {
    "Play and watch": ("list", "play", "ui", "host", "mcp", "serve"),
    "Evaluate": ("eval", "compare", "crossplay", "power"),
    "Read and move runs": ("report", "view", "export", "merge", "replay"),
    "Train": ("train", "sweep", "card", "jobs"),
    "Your own systems, data and code": ("triage", "import", "check"),
    "Inspect Warroom": ("doctor", "audit", "certify", "bench"),
}
"""The verbs as `warroom --help` lists them."""


class _Import(LazyGroup):
    """The verbs of `warroom import`."""

    verbs: ClassVar[Mapping[str, Verb]] = {
        "topology": Verb(
            "warroom.cli.import_topology:topology_command",
            "Read services and calls from docker-compose files, to play incidents on that system.",
        ),
        "incidents": Verb(
            "warroom.cli.import_incidents:incidents_command",
            "Import recorded incidents (logs, traces, metrics, answers) for the environment `logs`.",
        ),
        "runbooks": Verb(
            "warroom.cli.import_runbooks:runbooks_command",
            "Import a tree of Markdown files as a knowledge base.",
        ),
        "alerts": Verb(
            "warroom.cli.import_alerts:alerts_command",
            "Turn Prometheus alerts into tickets; the article behind an alert's runbook link is the right answer.",
        ),
        "tickets": Verb(
            "warroom.cli.import_tickets:tickets_command",
            "Import your own tickets, with their known answers.",
        ),
        "wordings": Verb(
            "warroom.cli.import_wordings:wordings_command",
            "Import wordings of your own for tickets and articles: paraphrases of frames, checked for meaning.",
        ),
    }


class _Commands(LazyGroup):
    """The verbs, and the boundary of a caller's errors: one red line. Anything else shows its traceback."""

    panels: ClassVar[Mapping[str, tuple[str, ...]]] = PANELS
    verbs: ClassVar[Mapping[str, Verb]] = {
        "list": Verb("warroom.cli.list:list_command", "List environments, scenarios, tiers, suites and policies."),
        "play": Verb(
            "warroom.cli.play:play_command",
            "Play one incident: watch policies on a live board, or take a seat yourself.",
        ),
        "mcp": Verb(
            "warroom.cli.mcp:mcp_command",
            "Serve a seat over the Model Context Protocol, to a coding agent or any other client.",
        ),
        "host": Verb(
            "warroom.cli.host:host_command",
            "Host one incident that people and agents elsewhere join, seat by seat, with a join code.",
        ),
        "power": Verb(
            "warroom.cli.power:power_command",
            "Plan a comparison: the smallest detectable difference, and how many incidents a given difference needs.",
        ),
        "eval": Verb(
            "warroom.cli.eval:eval_command",
            "Evaluate policies on a matrix of scenarios, tiers and seeds; write metrics, plots and a report.",
        ),
        "train": Verb(
            "warroom.cli.train:train_command",
            "Train a model by GRPO, DAgger or forked acts; write a learning curve, a summary and a model card.",
        ),
        "crossplay": Verb(
            "warroom.cli.crossplay:crossplay_command",
            "Play each seat of one team beside the other seats of another, and show what the exchange changes.",
        ),
        "sweep": Verb(
            "warroom.cli.sweep:sweep_command",
            "Train and evaluate every combination of a grid of options, and compare them in one table.",
        ),
        "card": Verb(
            "warroom.cli.card:card_command",
            "Rewrite the card of a trained model with the results of its evaluations.",
        ),
        "jobs": Verb(
            "warroom.cli.jobs:jobs_command",
            "Print the `hf jobs run` commands that train several configurations in parallel on rented machines.",
            {"allow_extra_args": True},
        ),
        "replay": Verb(
            "warroom.cli.replay:replay_command",
            "Replay every episode of a run from its recorded calls; fail if one diverges from the record.",
        ),
        "compare": Verb(
            "warroom.cli.compare:compare_command",
            "Compare two runs on the incidents that both played: the second minus the first.",
        ),
        "report": Verb(
            "warroom.cli.report:report_command", "Rebuild the summary, plots and report of a run from its episodes."
        ),
        "export": Verb(
            "warroom.cli.export:export_command",
            "Write the episodes of a run as a table, or as conversations to fine-tune a model on.",
        ),
        "merge": Verb(
            "warroom.cli.merge:merge_command",
            "Merge the shards of one evaluation into one run folder, as if one machine had played it.",
        ),
        "view": Verb(
            "warroom.cli.view:view_command",
            "Write one self-contained HTML file that shows every episode of a run, turn by turn.",
        ),
        "audit": Verb(
            "warroom.cli.audit:audit_command",
            "Check for exploits and leaks: scores of policies that ignore the evidence, ground truth in observations.",
        ),
        "certify": Verb(
            "warroom.cli.certify:certify_command",
            "Check that incidents are solvable, persistent, unambiguous and fair.",
        ),
        "bench": Verb(
            "warroom.cli.bench:bench_command",
            "Measure episodes per second of processor time on one core, and where the time goes.",
        ),
        "triage": Verb(
            "warroom.cli.triage:triage_command",
            "Report what changed in a log of your system and when: counts of message templates against a baseline.",
        ),
        "ui": Verb(
            "warroom.cli.ui:ui_command",
            "Open a web page to watch incidents or to take a seat.",
        ),
        "serve": Verb(
            "warroom.cli.serve:serve_command",
            "Serve the environments over OpenEnv, for trainers and agents.",
        ),
        "check": Verb(
            "warroom.cli.check:check_command",
            "Load a scenario, policy or reward of your own, run it once, and report what is wrong with it.",
        ),
        "doctor": Verb(
            "warroom.cli.doctor:doctor_command",
            "Report what is installed, what each extra would add, and whether it works.",
        ),
    }

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (ValueError, NotInstalled) as error:
            if os.environ.get("WARROOM_TRACEBACK"):
                raise
            notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
            say(f"error: {error}{notes}", "red")
            raise typer.Exit(WRONG_INPUT) from None
        except KeyboardInterrupt as stop:
            raise typer.Exit(exit_code(stop)) from None


GROUPS: tuple[type[LazyGroup], ...] = (_Commands, _Import)
"""Every group with its table of verbs."""

app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(
    typer.Typer(cls=_Import, no_args_is_help=True, help="Import data of a real system for the other commands."),
    name="import",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"warroom {warroom.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Train, attack and measure on-call agents on production incidents.

    Start with: warroom play fleet/autoscaler_cost_cut --tier hard --policy oracle
    """
    register_environment()


def main() -> None:
    """The console script."""
    app()
