"""The command `warroom`: the table of its verbs, each imported when it runs or shows its help."""

import os
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import typer

import warroom
from warroom.cli.lazy import LazyGroup, Verb
from warroom.cli.output import say
from warroom.core.errors import NotInstalled

WRONG_INPUT, INTERRUPTED = 2, 130
"""Exit codes: the caller's error, and Ctrl-C."""


class _Import(LazyGroup):
    """The verbs of `warroom import`."""

    verbs: ClassVar[Mapping[str, Verb]] = {
        "topology": Verb(
            "warroom.cli.import_topology:topology_command",
            "Read services and calls from docker-compose files, so that incidents happen on that system.",
        ),
        "incidents": Verb(
            "warroom.cli.import_incidents:incidents_command",
            "Read recorded incidents (logs, traces, metrics, answers) into a folder that the environment `logs` plays.",
        ),
        "runbooks": Verb(
            "warroom.cli.import_runbooks:runbooks_command",
            "Read a tree of Markdown files into a knowledge base. Over one that is there, its tickets go as well.",
        ),
        "alerts": Verb(
            "warroom.cli.import_alerts:alerts_command",
            "Make a ticket of every alert; the article that its runbook link means is the right one.",
        ),
        "tickets": Verb(
            "warroom.cli.import_tickets:tickets_command",
            "Read tickets of one's own, with what is known of their right answers.",
        ),
    }


class _Commands(LazyGroup):
    """The verbs, and the boundary of a caller's errors: one red line. Anything else shows its traceback."""

    verbs: ClassVar[Mapping[str, Verb]] = {
        "list": Verb("warroom.cli.list:list_command", "List environments, scenarios, tiers, suites and policies."),
        "play": Verb(
            "warroom.cli.play:play_command",
            "Play one incident: watch policies on a live board, or sit at a seat yourself.",
        ),
        "mcp": Verb(
            "warroom.cli.mcp:mcp_command",
            "Let a coding agent, or any other client of the Model Context Protocol, take a seat.",
        ),
        "power": Verb(
            "warroom.cli.power:power_command",
            "Plan a comparison: the smallest difference that it can detect, and how many incidents a difference needs.",
        ),
        "eval": Verb(
            "warroom.cli.eval:eval_command",
            "Play a matrix of scenarios, tiers, seeds and policies, and write numbers, pictures and a report.",
        ),
        "train": Verb(
            "warroom.cli.train:train_command",
            "Train a model by GRPO on incidents of the training split, and write curve, summary and model card.",
        ),
        "card": Verb(
            "warroom.cli.card:card_command",
            "Write a trained model's card again, with the results of its evaluations.",
        ),
        "jobs": Verb(
            "warroom.cli.jobs:jobs_command",
            "Print the `hf jobs run` commands that train several configurations side by side on rented machines.",
            {"allow_extra_args": True},
        ),
        "replay": Verb(
            "warroom.cli.replay:replay_command",
            "Play every episode of a run again from its recorded calls; fails if one goes another way than its record.",
        ),
        "compare": Verb(
            "warroom.cli.compare:compare_command",
            "Compare two runs on the incidents that both played: the second less the first.",
        ),
        "report": Verb(
            "warroom.cli.report:report_command", "Make summary, pictures and report of a run again from its episodes."
        ),
        "view": Verb(
            "warroom.cli.view:view_command",
            "Write one HTML file that shows every episode of a run, turn by turn, without any network.",
        ),
        "audit": Verb(
            "warroom.cli.audit:audit_command",
            "See what policies that weigh no evidence can get, and whether anything shown to a seat tells the truth.",
        ),
        "certify": Verb(
            "warroom.cli.certify:certify_command",
            "Check incidents in full: solvable, lasting, beyond doubt, and whatever else makes them fair in that "
            "environment.",
        ),
        "bench": Verb(
            "warroom.cli.bench:bench_command", "Measure episodes a second on one core, and what the time goes to."
        ),
        "triage": Verb(
            "warroom.cli.triage:triage_command",
            "Read a log of your system: how bad it is, the root cause, whom to page, what helps, how sure, and the "
            "lines why.",
        ),
        "ui": Verb(
            "warroom.cli.ui:ui_command",
            "Watch incidents in the browser, or take a seat: pick who plays, step or run, look back, see what it "
            "truly was.",
        ),
        "serve": Verb(
            "warroom.cli.serve:serve_command",
            "Serve the environments by OpenEnv, for trainers and agents to connect to.",
        ),
        "doctor": Verb(
            "warroom.cli.doctor:doctor_command",
            "Say what is installed, what each extra would add, and whether all of it works.",
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
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None


GROUPS: tuple[type[LazyGroup], ...] = (_Commands, _Import)
"""Every group with its table of verbs."""

app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(
    typer.Typer(cls=_Import, no_args_is_help=True, help="Read a real system into files that the other commands take."),
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


def main() -> None:
    """The console script."""
    app()
