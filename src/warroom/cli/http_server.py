"""The HTTP server behind `warroom serve`: uvicorn, with one worker or several, and the page where it is asked for."""

import contextlib
import os
import socket
import sys
from pathlib import Path

from fastapi import FastAPI
from uvicorn import Config, Server
from uvicorn.supervisors import Multiprocess

from warroom.cli import heavy
from warroom.cli.listening import BACKLOG, address, listen
from warroom.cli.output import say
from warroom.serve.app import OPTIONS_VARIABLE, PING, settings, worker
from warroom.serve.app import ServeOptions as ServeOptions
from warroom.serve.guard import MAX_BYTES

with contextlib.suppress(ImportError):  # Windows has no such limit
    import resource

SPARE = 256
"""Open files that a server needs besides its sessions."""


def serve(serving: ServeOptions, port: int, workers: int, page: bool, games: Path | None = None) -> None:
    """Serve until Ctrl-C; a `ValueError` says which option cannot be. `games` is the folder of the page's games."""
    serving.check()
    listening = listen(serving.access.host, port)
    listening.set_inheritable(True)  # workers answer it too
    _allow_files(serving.max_sessions * len(serving.names) + SPARE)
    os.environ[OPTIONS_VARIABLE] = settings(serving)
    app = worker(heavy.page.page_for(serving, games)) if page else None
    say(f"serving {', '.join(serving.names)} at {address(listening)}; stop with Ctrl-C", "green")
    if serving.hold_out.salt is not None:
        say(f"incidents are drawn under the salt of commitment {serving.hold_out.salt.commitment}")
    if serving.debug_truth:
        say("observations include the ground truth: results of this server are invalid", "yellow")
    config = Config(
        app or "warroom.serve.app:worker",
        factory=app is None,
        workers=workers,
        log_level="warning",
        ws_max_size=MAX_BYTES,
        ws_ping_interval=PING[0],
        ws_ping_timeout=PING[1],
        ws_per_message_deflate=False,  # a page is short, and a compressor for each session is not
        timeout_graceful_shutdown=5,
        backlog=BACKLOG,
    )
    _run(config, listening, app)


def _run(config: Config, listening: socket.socket, paged: FastAPI | None) -> None:
    """Serve until Ctrl-C; `paged` is the application if it has a page, which is told that it ends."""
    with contextlib.suppress(KeyboardInterrupt):
        if config.workers > 1:
            Multiprocess(config, sockets=[listening]).run()
        elif paged is not None:
            heavy.live_server.PageServer(config, paged.state.site).run(sockets=[listening])
        else:
            Server(config).run(sockets=[listening])


def _allow_files(wanted: int) -> None:
    """Ask the system for as many open files as sessions may need; where it gives fewer, say so."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if hard != resource.RLIM_INFINITY and hard < wanted:
        say(f"the system allows {hard} open files (ulimit -n), which limits the number of sessions", "yellow")
