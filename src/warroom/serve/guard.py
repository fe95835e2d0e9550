"""Stands before OpenEnv's own server: what it could not read is answered here, so that no socket breaks at it."""

import json
from asyncio import get_running_loop, sleep
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST = 1_048_576
"""Bytes of a message on the socket, and of a body."""
MAX_DRAINED_BYTES = 16 * LARGEST
"""Bytes of a body that is too large, that are taken before it is answered so."""
SHORT = 900
"""Characters below which no JSON is deep or long enough to be more than a parser bears."""


class RequestGuard:
    """Answers frames that are no JSON object, and bodies that are too large."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what can be read."""
        if scope["type"] == "websocket":
            line = _GuardedSocket(scope["path"], receive, send)
            await self.app(scope, line.receive, line.send)
        elif scope["type"] == "http" and _announced(scope) > LARGEST:
            await _drain(receive)
            refusal = JSONResponse({"detail": f"a body has at most {LARGEST} bytes"}, 413)
            await refusal(scope, receive, send)
        elif scope["type"] == "http":
            await self.app(scope, _counted(receive), send)
        else:
            await self.app(scope, receive, send)


class _GuardedSocket:
    """One socket: frames that can be read are passed on, and who is gone is not spoken to."""

    def __init__(self, path: str, receive: Receive, send: Send) -> None:
        self.path, self._receive, self._send = path, receive, send
        self._disconnected = self._at_once = False

    async def send(self, message: Message) -> None:
        """Say something; if nobody is there any more, the next `receive` tells, and nothing else has to."""
        if self._disconnected:
            return
        try:
            await self._send(message)
        except (OSError, RuntimeError):  # the client hung up, or sent a torn frame after this one
            self._disconnected = True

    async def receive(self) -> Message:
        """The next frame that can be read."""
        while not self._disconnected:
            message = await self._next()
            if message["type"] != "websocket.receive":
                return message
            text, problem = read(message.get("text"))
            if problem is None:
                return {"type": "websocket.receive", "text": text}
            await self.send({"type": "websocket.send", "text": _refusal(self.path, problem)})
        return {"type": "websocket.disconnect", "code": 1006}

    async def _next(self) -> Message:
        self._at_once = True
        get_running_loop().call_soon(self._waited)
        message = await self._receive()
        if self._at_once:  # it lay there already: who sends many at once takes turns with the other sessions
            await sleep(0)
        return message

    def _waited(self) -> None:
        self._at_once = False


def read(text: str | None) -> tuple[str, str | None]:
    """A frame as it may be passed on, and what is wrong with it if it may not."""
    if text is None:
        return "", "a message is text, got bytes"
    short, halves = len(text) < SHORT, "\\ud" in text or "\\uD" in text
    if short and not halves and text.lstrip()[:1] == "{":
        return text, None  # the server reads it, and says itself what is wrong with it
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        return "", f"a message is a JSON object: {str(error)[:200]}"
    if not isinstance(data, dict):
        return "", f"a message is a JSON object, got {type(data).__name__}"
    return (json.dumps(data, ensure_ascii=False).encode("utf-8", "replace").decode() if halves else text), None


def _refusal(path: str, problem: str) -> str:
    if path.endswith("/mcp"):
        return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": problem}})
    return json.dumps({"type": "error", "data": {"message": problem, "code": "INVALID_JSON"}})


def _announced(scope: Scope) -> int:
    header = dict(scope["headers"]).get(b"content-length", b"0")
    return int(header) if header.isdigit() else 0


async def _drain(receive: Receive) -> None:
    """Take a body that is too large, within reason: a client that is cut off while it sends sees no answer."""
    taken, more = 0, True
    while more and taken < MAX_DRAINED_BYTES:
        message = await receive()
        taken, more = taken + len(message.get("body", b"")), message.get("more_body", False)


def _counted(receive: Receive) -> Receive:
    """A body that does not say how long it is ends where it becomes too long."""
    taken = 0

    async def next_part() -> Message:
        nonlocal taken
        message: dict[str, Any] = dict(await receive())
        taken += len(message.get("body", b""))
        if taken > LARGEST:
            raise ValueError(f"a body has at most {LARGEST} bytes")
        return message

    return next_part
