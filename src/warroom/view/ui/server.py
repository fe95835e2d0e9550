"""The server of the page: this machine's own unless told otherwise, and nothing is fetched from elsewhere."""

import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

from warroom.core.errors import MissingExtra
from warroom.view.ui.app import build, look
from warroom.view.ui.lobby import Lobby
from warroom.view.ui.page_guard import PageGuard
from warroom.view.ui.policy_choice import AllowedPolicies

try:
    import gradio as gr
    import uvicorn
    from fastapi import FastAPI
    from starlette.middleware import Middleware
    from starlette.types import ASGIApp
except ImportError as error:
    raise MissingExtra("serve", error) from error

SHUTDOWN_SECONDS = 1
"""Seconds that open pages are given when the server ends."""


def mounted(
    app: FastAPI, path: str = "/", allowed_policies: AllowedPolicies | None = None, lobby: Lobby | None = None
) -> FastAPI:
    """`app` with the page at `path`."""
    page = build(allowed_policies, lobby)
    own = {"middleware": [Middleware(PageGuard, blocks=page)]}
    gr.mount_gradio_app(
        app, page, path, show_error=False, ssr_mode=False, run_history=False, max_file_size=0, app_kwargs=own, **look()
    )
    return app


class UiServer(uvicorn.Server):
    """Tells when it listens, and ends at once on Ctrl-C: open pages are told, instead of being waited for."""

    def __init__(self, config: uvicorn.Config, pages: FastAPI, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self.pages, self.ready = pages, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self.ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End; a second time, without waiting."""
        for route in self.pages.routes:
            heartbeat: Any = getattr(getattr(route, "app", None), "stop_event", None)
            if heartbeat is not None:
                heartbeat.set()
        super().handle_exit(sig, frame)


def serve(
    bound: socket.socket,
    allowed_policies: AllowedPolicies,
    ready: Callable[[], object],
    guard: Callable[[ASGIApp], ASGIApp],
) -> None:
    """Serve the page at a socket that listens, until Ctrl-C; `ready` is called once it answers.

    `guard` stands before the page, and refuses whoever may not use it.
    """
    # Without FastAPI's pages of documentation, whose scripts come from elsewhere.
    app = mounted(FastAPI(title="Warroom", openapi_url=None), allowed_policies=allowed_policies)
    config = uvicorn.Config(guard(app), log_level="warning", timeout_graceful_shutdown=SHUTDOWN_SECONDS)
    UiServer(config, app, ready).run(sockets=[bound])
