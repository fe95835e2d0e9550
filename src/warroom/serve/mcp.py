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
from warroom.serve.mcp_rota import Ledger, Rota
from warroom.serve.mcp_shift import LOOK, START, Answer, Offered, Shift

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
QUIET = (None, "fastmcp", "mcp", "uvicorn", "sse_starlette")
"""Loggers, the root's first, that tell of every odd line that a client sends."""
INTERRUPTED = 130
"""Exit code after Ctrl-C."""


class SeatTool(Tool):
    """A tool whose calls all go one way; the environment checks them, so that a wrong one costs its turn."""

    seats: Annotated[SkipJsonSchema[Any], Field(exclude=True)]

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Play the call."""
        answer: Answer = await self.seats.call(self.name, arguments)
        # Apart from the text, for programs: clients show structured content to a model instead of the text.
        return ToolResult(answer.text, meta={"warroom": answer.state})


class Seats(Provider):
    """The tools of every client's own incident."""

    def __init__(self, rota: Rota, ledger: Ledger | None = None) -> None:
        super().__init__()
        self.rota, self.ledger = rota, ledger
        self._shifts: WeakKeyDictionary[Any, Shift] = WeakKeyDictionary()
        # All clients share one thread, in the order in which they asked: nothing that plays need be safe among threads,
        # and a slow colleague or a large knowledge base keeps nobody from connecting.
        self._thread = CapacityLimiter(1)

    async def call(self, name: str, arguments: dict[str, Any]) -> Answer:
        """Play one call of the client that asks."""
        answer = await self.ask(lambda shift: shift.call(name, arguments))
        if answer.new:
            await get_context().send_notification(protocol.ToolListChangedNotification())
        return answer

    async def ask(self, question: Callable[[Shift], Result]) -> Result:
        """What the shift of the client that asks answers; its first question begins it."""
        client = get_context().session
        return await to_thread.run_sync(self._answer, client, question, limiter=self._thread)

    def _answer(self, client: Any, question: Callable[[Shift], Result]) -> Result:
        # Standard output belongs to the protocol: what a scenario file prints would break it.
        with contextlib.redirect_stdout(sys.stderr):
            try:
                if client not in self._shifts:
                    self._shifts[client] = Shift(self.rota, self.ledger)
                return question(self._shifts[client])
            except Exception as error:  # the boundary: a defect of ours is loud on stderr, and the client is told
                traceback.print_exc()
                raise ToolError(f"This is a defect of the server; {START} with another index may help.") from error

    # -- what the library asks for ----------------------------------------------------------------------

    async def _list_tools(self) -> Sequence[Tool]:
        return [self._tool(offered) for offered in await self.ask(Shift.offered)]

    async def _get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:
        """A tool of any name: whether there is one is for the environment to say, which counts the call."""
        return SeatTool(name=name or "?", parameters={"type": "object"}, seats=self)

    def _tool(self, offered: Offered) -> Tool:
        return SeatTool(
            name=offered.name,
            description=offered.description,
            parameters=offered.parameters,
            # Everything happens inside a simulation: nothing is lost by a call, and nobody outside hears of it.
            annotations=protocol.ToolAnnotations(
                readOnlyHint=offered.reading, destructiveHint=False, openWorldHint=False
            ),
            seats=self,
        )


def server(rota: Rota, ledger: Ledger | None = None) -> "FastMCP[Any]":
    """A server on which each client plays incidents of its own."""
    seats = Seats(rota, ledger)
    made: FastMCP[Any] = FastMCP(
        "warroom",
        instructions=_instructions(rota),
        version=__version__,
        providers=[seats],
        mask_error_details=True,
        strict_input_validation=False,
    )

    @made.prompt(name="take_the_seat", description="How to play, and what the seat sees now.")
    async def take_the_seat() -> str:
        return await seats.ask(lambda shift: f"{_instructions(rota)}\n\n{shift.look()}")

    @made.resource("warroom://brief", description="The job, the rules and the system of this incident.")
    async def brief() -> str:
        return await seats.ask(Shift.brief)

    @made.resource("warroom://look", description="What the acting seat was told in this turn.")
    async def look() -> str:
        return await seats.ask(Shift.look)

    return made


def _instructions(rota: Rota) -> str:
    several = len(rota.seats) > 1
    whose = f"the seats {', '.join(rota.seats)}, each in its turn" if several else f"the seat {rota.seats[0]}"
    return (
        f"You hold {whose} in a simulation: {environments()[rota.env].summary}. "
        f"Call {LOOK} first: it shows your job and your page. "
        "Some tools leave your turn open, any other ends it and time goes on; every answer is what you see next. "
        "A wrong call, also of a tool that does not exist, costs the turn. Play until the incident is over. "
        f"Names change from incident to incident: after {START} list the tools again."
    )


# -- transports -----------------------------------------------------------------------------------------


def serve_stdio(made: "FastMCP[Any]") -> None:
    """Speak the protocol on standard input and output until the client leaves."""
    _hush()
    # A thread waits for the client's next line, and nothing but that line would wake it for an orderly end.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    asyncio.run(made.run_async("stdio", show_banner=False, log_level="CRITICAL"))


def serve_http(made: "FastMCP[Any]", listening: socket.socket) -> None:
    """Speak the protocol over HTTP on a socket that listens, until interrupted."""
    _hush()
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


def _hush() -> None:
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.CRITICAL)
