"""Stands before OpenEnv's own server: what it could not read is answered here, so that no socket breaks at it."""

import json
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST = 1_048_576
"""Bytes of a message on the socket, and of a body."""
SHORT = 900
"""Characters below which no JSON is deep or long enough to be more than a parser bears."""


class Guard:
    """Answers frames that are no JSON object, and bodies that are too large."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what can be read."""
        if scope["type"] == "websocket":
            await self.app(scope, _screened(scope, receive, send), send)
        elif scope["type"] == "http" and _announced(scope) > LARGEST:
            refusal = JSONResponse({"detail": f"a body has at most {LARGEST} bytes"}, 413)
            await refusal(scope, receive, send)
        elif scope["type"] == "http":
            await self.app(scope, _counted(receive), send)
        else:
            await self.app(scope, receive, send)


def _screened(scope: Scope, receive: Receive, send: Send) -> Receive:
    async def next_readable() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            text, problem = read(message.get("text"))
            if problem is None:
                return {"type": "websocket.receive", "text": text}
            await send({"type": "websocket.send", "text": _refusal(scope["path"], problem)})

    return next_readable


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
