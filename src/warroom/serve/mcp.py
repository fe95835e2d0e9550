"""The seats over the Model Context Protocol: a coding agent, or any other client, plays them by its tools."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar
from weakref import WeakKeyDictionary

from warroom import __version__
from warroom.core.errors import MissingExtra
from warroom.envs import environments
from warroom.serve.mcp_config import EpisodeWriter, McpConfig
from warroom.serve.mcp_session import LOOK, START, CallReply, McpSession, ToolListing

try:
    import mcp.types as protocol
    from anyio import CapacityLimiter, to_thread
    from fastmcp import FastMCP
    from fastmcp.exceptions import ToolError
    from fastmcp.server.dependencies import get_context
    from fastmcp.server.providers import Provider
    from fastmcp.tools import Tool, ToolResult
    from fastmcp.utilities.versions import VersionSpec
    from pydantic import Field
    from pydantic.json_schema import SkipJsonSchema
except ImportError as error:
    raise MissingExtra("serve", error) from error

Result = TypeVar("Result")
PATH = "/mcp"
"""Where the protocol is spoken over HTTP."""
SILENCED_LOGGERS = (None, "fastmcp", "mcp", "uvicorn", "sse_starlette")
"""Loggers, the root's first, that tell of every odd line that a client sends."""
INTERRUPTED = 130
"""Exit code after Ctrl-C."""


class SeatTool(Tool):
    """A tool whose calls all go one way; the environment checks them, so that a wrong one costs its turn."""

    seats: Annotated[SkipJsonSchema[Any], Field(exclude=True)]

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Play the call."""
        answer: CallReply = await self.seats.call(self.name, arguments)
        # Apart from the text, for programs: clients show structured content to a model instead of the text.
        return ToolResult(answer.text, meta={"warroom": answer.state})


class Seats(Provider):
    """The tools of every client's own incident."""

    def __init__(self, config: McpConfig, episode_writer: EpisodeWriter | None = None) -> None:
        super().__init__()
        self.config, self.episode_writer = config, episode_writer
        self._sessions: WeakKeyDictionary[Any, McpSession] = WeakKeyDictionary()
        # All clients share one thread, in the order in which they asked: nothing that plays need be safe among threads,
        # and a slow colleague or a large knowledge base keeps nobody from connecting.
        self._thread = CapacityLimiter(1)

    async def call(self, name: str, arguments: dict[str, Any]) -> CallReply:
        """Play one call of the client that asks."""
        answer = await self.ask(lambda mcp_session: mcp_session.call(name, arguments))
        if answer.new:
            await get_context().send_notification(protocol.ToolListChangedNotification())
        return answer

    async def ask(self, question: Callable[[McpSession], Result]) -> Result:
        """What the shift of the client that asks answers; its first question begins it."""
        client = get_context().session
        return await to_thread.run_sync(self._answer, client, question, limiter=self._thread)

    def _answer(self, client: Any, question: Callable[[McpSession], Result]) -> Result:
        # Standard output belongs to the protocol: what a scenario file prints would break it.
        with contextlib.redirect_stdout(sys.stderr):
            try:
                if client not in self._sessions:
                    self._sessions[client] = McpSession(self.config, self.episode_writer)
                return question(self._sessions[client])
            except Exception as error:  # the boundary: a defect of ours is loud on stderr, and the client is told
                traceback.print_exc()
                raise ToolError(f"This is a defect of the server; {START} with another index may help.") from error

    # -- what the library asks for ----------------------------------------------------------------------

    async def _list_tools(self) -> Sequence[Tool]:
        return [self._tool(listing) for listing in await self.ask(McpSession.list_tools)]

    async def _get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:
        """A tool of any name: whether there is one is for the environment to say, which counts the call."""
        return SeatTool(name=name or "?", parameters={"type": "object"}, seats=self)

    def _tool(self, listing: ToolListing) -> Tool:
        return SeatTool(
            name=listing.name,
            description=listing.description,
            parameters=listing.parameters,
            # Everything happens inside a simulation: nothing is lost by a call, and nobody outside hears of it.
            annotations=protocol.ToolAnnotations(
                readOnlyHint=listing.read_only, destructiveHint=False, openWorldHint=False
            ),
            seats=self,
        )


def server(config: McpConfig, episode_writer: EpisodeWriter | None = None) -> "FastMCP[Any]":
    """A server on which each client plays incidents of its own."""
    seats = Seats(config, episode_writer)
    made: FastMCP[Any] = FastMCP(
        "warroom",
        instructions=_instructions(config),
        version=__version__,
        providers=[seats],
        mask_error_details=True,
        strict_input_validation=False,
    )

    @made.prompt(name="take_the_seat", description="How to play, and what the seat sees now.")
    async def take_the_seat() -> str:
        return await seats.ask(lambda mcp_session: f"{_instructions(config)}\n\n{mcp_session.look()}")

    @made.resource("warroom://brief", description="The job, the rules and the system of this incident.")
    async def brief() -> str:
        return await seats.ask(McpSession.brief)

    @made.resource("warroom://look", description="What the acting seat was told in this turn.")
    async def look() -> str:
        return await seats.ask(McpSession.look)

    return made


def _instructions(config: McpConfig) -> str:
    several = len(config.seats) > 1
    whose = f"the seats {', '.join(config.seats)}, each in its turn" if several else f"the seat {config.seats[0]}"
    return (
        f"You hold {whose} in a simulation: {environments()[config.env].summary}. "
        f"Call {LOOK} first: it shows your job and your page. "
        "Some tools leave your turn open, any other ends it and time goes on; every answer is what you see next. "
        "A wrong call, also of a tool that does not exist, costs the turn. Play until the incident is over. "
        f"Names change from incident to incident: after {START} list the tools again."
    )


# -- transports -----------------------------------------------------------------------------------------


def serve_stdio(made: "FastMCP[Any]") -> None:
    """Speak the protocol on standard input and output until the client leaves."""
    _silence_loggers()
    # A thread waits for the client's next line, and nothing but that line would wake it for an orderly end.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    asyncio.run(made.run_async("stdio", show_banner=False, log_level="CRITICAL"))


def serve_http(made: "FastMCP[Any]", listening: socket.socket) -> None:
    """Speak the protocol over HTTP on a socket that listens, until interrupted."""
    _silence_loggers()
    host, port = listening.getsockname()[:2]
    running = made.run_async(
        "http",
        show_banner=False,
        log_level="CRITICAL",
        host=host,
        port=port,
        path=PATH,
        stateless_http=False,
        host_origin_protection="auto",  # a web page elsewhere may not play through the browser of whoever serves here
        sockets=[listening],
        uvicorn_config={"log_level": "critical", "access_log": False},
    )
    asyncio.run(running)


def _silence_loggers() -> None:
    for name in SILENCED_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
