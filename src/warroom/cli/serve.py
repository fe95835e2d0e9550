"""`warroom serve`."""

from typing import Annotated

import typer

from warroom.cli import heavy


def serve_command(
    env: Annotated[str, typer.Option(help="fleet, logs, tickets, or all of them under a prefix each.")] = "all",
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes a free one.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, help="Processes. Each has its own sessions and its own limit.")] = 1,
    max_sessions: Annotated[
        int, typer.Option(min=1, help="Sessions open at once, for each environment and worker.")
    ] = 4096,
    team: Annotated[
        str, typer.Option(help="Who plays the seats that a client leaves to others and names nobody for.")
    ] = "expert",
    page: Annotated[
        bool,
        typer.Option("--page", help="Show the page of `warroom ui` at /web too, for what is served. One worker."),
    ] = False,
    debug_truth: Annotated[
        bool,
        typer.Option("--debug-truth", help="Tell the truth in every observation, which marks it. Never for results."),
    ] = False,
) -> None:
    """Serve the environments by OpenEnv, for trainers and agents to connect to.

    Example: warroom serve --env fleet --port 8000
    """
    if page and workers > 1:
        raise ValueError(f"--page needs --workers 1, got {workers}: what a visitor plays lives in one process")
    serving = heavy.http_server.ServeOptions(env, max_sessions, team, debug_truth)
    heavy.http_server.serve(serving, host, port, workers, page)
