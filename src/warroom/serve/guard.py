"""ASGI middleware before OpenEnv's server: input that OpenEnv cannot read is refused here, and sockets stay open."""

import json
from asyncio import get_running_loop, sleep

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from warroom.core.messages import encodable

MAX_BYTES = 1_048_576
"""Bytes of a message on the socket, and of a body."""
MAX_DRAINED_BYTES = 16 * MAX_BYTES
"""Bytes of a body that is too large which are read before it is refused."""
SHORT = 900
"""Characters below which no JSON is too deep or too long for the parser."""


class RequestGuard:
    """Refuses frames that are not a JSON object, and bodies that are too large."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what OpenEnv can read."""
        if scope["type"] == "websocket":
            guarded = _GuardedSocket(scope["path"], receive, send)
            await self.app(scope, guarded.receive, guarded.send)
        elif scope["type"] == "http" and _announced(scope) > MAX_BYTES:
            await _drain(receive)
            refusal = JSONResponse({"detail": f"a body has at most {MAX_BYTES} bytes"}, 413)
            await refusal(scope, receive, send)
        elif scope["type"] == "http":
            await self.app(scope, _counted(receive), send)
        else:
            await self.app(scope, receive, send)


class _GuardedSocket:
    """One socket: readable frames are passed on, and nothing is sent to a client that has disconnected."""

    def __init__(self, path: str, receive: Receive, send: Send) -> None:
        self.path, self._receive, self._send = path, receive, send
        self._disconnected = self._was_queued = False

    async def send(self, message: Message) -> None:
        """Send a message; that the client has disconnected is reported by the next `receive` alone."""
        if self._disconnected:
            return
        try:
            await self._send(message)
        except (OSError, RuntimeError):  # the client closed, or sent a broken frame after this one
            self._disconnected = True

    async def receive(self) -> Message:
        """The next readable frame."""
        while not self._disconnected:
            message = await self._next()
            if message["type"] != "websocket.receive":
                return message
            try:
                return {"type": "websocket.receive", "text": readable_frame(message.get("text"))}
            except ValueError as error:
                await self.send({"type": "websocket.send", "text": _refusal(self.path, str(error))})
        return {"type": "websocket.disconnect", "code": 1006}

    async def _next(self) -> Message:
        self._was_queued = True
        get_running_loop().call_soon(self._not_queued)
        message = await self._receive()
        if self._was_queued:  # it was there already: a client that sends many at once takes turns with the others
            await sleep(0)
        return message

    def _not_queued(self) -> None:
        self._was_queued = False


def readable_frame(text: str | None) -> str:
    """A frame as it may be passed on; a `ValueError` says what is wrong with it."""
    if text is None:
        raise ValueError("a message is text, got bytes")
    has_surrogates = "\\ud" in text or "\\uD" in text
    if len(text) < SHORT and not has_surrogates and text.lstrip()[:1] == "{":
        return text  # OpenEnv reads it, and reports itself what is wrong with it
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"a message is a JSON object: {str(error)[:200]}") from error
    if not isinstance(data, dict):
        raise ValueError(f"a message is a JSON object, got {type(data).__name__}")
    return encodable(json.dumps(data, ensure_ascii=False)) if has_surrogates else text


def _refusal(path: str, problem: str) -> str:
    if path.endswith("/mcp"):
        return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": problem}})
    return json.dumps({"type": "error", "data": {"message": problem, "code": "INVALID_JSON"}})


def _announced(scope: Scope) -> int:
    """The length of a body that its header gives; 0 without one."""
    header = dict(scope["headers"]).get(b"content-length", b"0")
    return int(header) if header.isdigit() else 0


async def _drain(receive: Receive) -> None:
    """Read a body that is too large, up to a limit: a client that is cut off while it sends sees no answer."""
    size, more = 0, True
    while more and size < MAX_DRAINED_BYTES:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)


def _counted(receive: Receive) -> Receive:
    """Reads a body of unknown length; a `ValueError` once it is too large."""
    size = 0

    async def next_part() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > MAX_BYTES:
            raise ValueError(f"a body has at most {MAX_BYTES} bytes")
        return message

    return next_part
