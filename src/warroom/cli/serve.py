"""`warroom serve`."""

from typing import Annotated

import typer

from warroom.cli import heavy


def serve_command(
    *,
    env: Annotated[str, typer.Option(help="fleet, logs, tickets, or all of them, each under its own path.")] = "all",
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 accepts other machines.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free port.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes, each with its own sessions and limit.")] = 1,
    max_sessions: Annotated[int, typer.Option(min=1, help="Open sessions per environment and worker.")] = 4096,
    team: Annotated[str, typer.Option(help="Default policy of the seats that a client does not play.")] = "expert",
    page: Annotated[
        bool,
        typer.Option("--page", help="Also serve the page of `warroom ui` at /web. Needs --workers 1."),
    ] = False,
    debug_truth: Annotated[
        bool,
        typer.Option(
            "--debug-truth",
            help="Include the ground truth in every observation. For debugging only, never for results.",
        ),
    ] = False,
) -> None:
    """Serve the environments over OpenEnv, for trainers and agents.

    Example: warroom serve --env fleet --port 8000
    """
    if page and workers > 1:
        raise ValueError(f"--page needs --workers 1, got {workers}: the page keeps its sessions in one process")
    serving = heavy.http_server.ServeOptions(env, max_sessions, team, debug_truth)
    heavy.http_server.serve(serving, host, port, workers, page)
