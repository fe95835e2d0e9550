"""`warroom serve`."""

import contextlib
import os
import socket
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warroom.commands.common import say
from warroom.commands.listening import BACKLOG, address, listen
from warroom.core.errors import MissingExtra

if TYPE_CHECKING:
    from fastapi import FastAPI
    from uvicorn import Config

    from warroom.serve.app import Mount, ServeOptions

SPARE = 256
"""Open files that a server needs besides its sessions."""


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
    try:
        import uvicorn

        from warroom.serve.app import OPTIONS_VARIABLE, PING, ServeOptions, settings, worker
        from warroom.serve.guard import LARGEST
    except ImportError as error:
        raise MissingExtra("serve", error) from error
    serving = ServeOptions(env, max_sessions, team, debug_truth)
    serving.check()
    listening = listen(host, port)
    listening.set_inheritable(True)  # workers answer it too
    _allow_files(max_sessions * len(serving.names) + SPARE)
    os.environ[OPTIONS_VARIABLE] = settings(serving)
    app = worker(page_for(serving)) if page else None
    say(f"serving {', '.join(serving.names)} at {address(listening)}; Ctrl-C ends it", "green")
    if debug_truth:
        say("every observation tells the truth: nothing played here is a result", "yellow")
    config = uvicorn.Config(
        app or "warroom.serve.app:worker",
        factory=app is None,
        workers=workers,
        log_level="warning",
        ws_max_size=LARGEST,
        ws_ping_interval=PING[0],
        ws_ping_timeout=PING[1],
        ws_per_message_deflate=False,  # a page is short, and a compressor for each session is not
        timeout_graceful_shutdown=5,
        backlog=BACKLOG,
    )
    _run(config, listening, app)


def page_for(serving: "ServeOptions") -> "Mount":
    """Mounts the page of `warroom ui` beside what is served.

    It offers what is served and no more, takes as many visitors as an environment takes sessions, and nobody can name
    a model that is not on its list.
    """
    from warroom.view.ui.lobby import MAX_VISITORS, Lobby
    from warroom.view.ui.policy_choice import AllowedPolicies
    from warroom.view.ui.server import mounted

    def mount(app: "FastAPI", path: str) -> None:
        mounted(
            app,
            path,
            AllowedPolicies(allow_typed_models=False, envs=serving.names),
            Lobby(max_visitors=min(MAX_VISITORS, serving.max_sessions)),
        )

    return mount


def _run(config: "Config", listening: socket.socket, paged: "FastAPI | None") -> None:
    """Serve until Ctrl-C; `paged` is the application if it has a page, which is told that it ends."""
    from uvicorn import Server
    from uvicorn.supervisors import Multiprocess

    with contextlib.suppress(KeyboardInterrupt):
        if config.workers > 1:
            Multiprocess(config, sockets=[listening]).run()
        elif paged is not None:
            from warroom.view.ui.server import UiServer as PageServer

            PageServer(config, paged, ready=lambda: None).run(sockets=[listening])
        else:
            Server(config).run(sockets=[listening])


def _allow_files(wanted: int) -> None:
    """Ask the system for as many open files as sessions may need; where it gives fewer, say so."""
    try:
        import resource
    except ImportError:  # not on Windows, which has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed: Any = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if hard != resource.RLIM_INFINITY and hard < wanted:
        say(f"the system allows {hard} open files (ulimit -n), which is about as many sessions", "yellow")
