"""The command `warroom`: one verb per command, each with help that teaches."""

import os
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import warroom
from warroom.commands import (
    auditing,
    benchmark,
    doctor,
    evaluate,
    folders,
    importing,
    importing_tickets,
    listing,
    mcp,
    play,
    power,
    serving,
    training,
    triage,
    ui,
    viewing,
)
from warroom.commands.common import say
from warroom.commands.completion import add_completion
from warroom.core.errors import NotInstalled

WRONG_INPUT, INTERRUPTED = 2, 130
"""Exit codes: the caller's error, and Ctrl-C."""


class _Commands(TyperGroup):
    """The boundary of a caller's errors: one red line. Anything else is ours and shows its traceback."""

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


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(listing.list_command)
app.command("play")(play.play_command)
app.command("mcp")(mcp.mcp_command)
app.command("eval")(evaluate.eval_command)
app.command("train")(training.train_command)
app.command("card")(training.card_command)
app.command("jobs", context_settings={"allow_extra_args": True})(training.jobs_command)
app.command("replay")(folders.replay_command)
app.command("compare")(folders.compare_command)
app.command("report")(folders.report_command)
app.command("power")(power.power_command)
app.command("view")(viewing.view_command)
app.command("audit")(auditing.audit_command)
app.command("certify")(auditing.certify_command)
app.command("bench")(benchmark.bench_command)
app.command("triage")(triage.triage_command)
app.command("ui")(ui.ui_command)
app.command("serve")(serving.serve_command)
app.command("doctor")(doctor.doctor_command)
importing.app.command("runbooks")(importing_tickets.runbooks_command)
importing.app.command("alerts")(importing_tickets.alerts_command)
importing.app.command("tickets")(importing_tickets.tickets_command)
app.add_typer(importing.app, name="import")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"warroom {warroom.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """Train, attack and measure on-call agents on production incidents.

    Start with: warroom play fleet/autoscaler_cost_cut --tier hard --policy oracle
    """


def main() -> None:
    """The console script."""
    add_completion(app)
    app()


if __name__ == "__main__":
    main()
