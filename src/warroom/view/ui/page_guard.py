"""What the page takes from a browser: its own events, with values of the kinds that its widgets send, and no more."""

import json
from collections.abc import Mapping

from warroom.core.checks import check_range, check_type
from warroom.core.errors import MissingExtra, quote_input

try:
    import gradio as gr
    from gradio.block_function import BlockFunction
    from gradio.state_holder import SessionState
    from starlette.responses import JSONResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ImportError as error:
    raise MissingExtra("serve", error) from error

JOIN = "/queue/join"
EVENTS = (JOIN, "/cancel", "/reset")
"""Ends of the paths that the page posts to; Gradio has more of them, which read files or run code of other pages."""
MAX_ID_LENGTH, MAX_TEXT_LENGTH = 64, 20_000
LARGEST = 2**53
"""Numbers beyond it are not whole in a browser."""
UNREADABLE = "The page sent what it never asks for; load it again."


class PageBlocks(gr.Blocks):
    """Gradio's page, where a value that no widget can send is the client's mistake: no traceback tells of it."""

    async def preprocess_data(
        self, block_fn: BlockFunction, inputs: list[object], state: SessionState | None, explicit_call: bool = False
    ) -> list[object]:
        """The values as our events take them; what a widget refuses ends the event, and is told to its page alone."""
        try:
            found: list[object] = await super().preprocess_data(block_fn, inputs, state, explicit_call)
        except Exception as error:  # each widget raises whatever the value makes it stumble over
            raise gr.Error(UNREADABLE, print_exception=False) from error
        return found


class PageGuard:
    """ASGI middleware of the page: posts that are none of its events are refused, with a sentence."""

    def __init__(self, app: ASGIApp, blocks: gr.Blocks) -> None:
        self.app, self.blocks = app, blocks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what the page itself would send."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self.app(scope, receive, send)
            return
        if not scope["path"].endswith(EVENTS):
            await JSONResponse({"detail": "the page takes no such request"}, 404)(scope, receive, send)
            return
        body = await _read(receive)
        try:
            self._check(scope["path"], json.loads(body))
        except (ValueError, RecursionError) as error:
            await JSONResponse({"detail": f"no event of this page: {error}"}, 422)(scope, receive, send)
            return
        await self.app(scope, _replayed(body, receive), send)

    def _check(self, path: str, event: object) -> None:
        if not isinstance(event, dict):
            raise ValueError(f"an event is a JSON object, got {quote_input(event)}")
        for name in ("session_hash", "event_id"):
            _check_id(name, event.get(name), required=name == "session_hash" and path.endswith(JOIN))
        if path.endswith(JOIN):
            self._check_join(event)

    def _check_join(self, event: Mapping[str, object]) -> None:
        index, values = event.get("fn_index"), event.get("data")
        if type(index) is not int or index not in self.blocks.fns:
            raise ValueError(f"there is no event {quote_input(index)}")
        inputs = self.blocks.fns[index].inputs
        if not isinstance(values, list) or len(values) != len(inputs):
            raise ValueError(f"this event has {len(inputs)} values")
        for box, value in zip(inputs, values, strict=True):
            _check_value(box, value)
        trigger = event.get("trigger_id")
        # The page itself, whose loading is an event too, is not among its own blocks.
        if trigger is not None and not (
            type(trigger) is int and (trigger == self.blocks._id or trigger in self.blocks.blocks)
        ):
            raise ValueError(f"there is no widget {quote_input(trigger)}")
        if event.get("batched") or event.get("simple_format"):
            raise ValueError("events of this page come one by one")


def _check_id(name: str, value: object, *, required: bool) -> None:
    if value is None and not required:
        return
    check_type(name, value, str)
    if not 1 <= len(str(value)) <= MAX_ID_LENGTH or not str(value).isascii():
        raise ValueError(f"{name} has 1 to {MAX_ID_LENGTH} letters, got {quote_input(value)}")


def _check_value(box: object, value: object) -> None:
    """Refuse a value of a kind that the widget never has. What stands in a list of choices the event itself checks."""
    if value is None:
        return
    if isinstance(box, gr.Number | gr.Slider):
        check_range("a number", value, -LARGEST, LARGEST)
    elif isinstance(box, gr.Checkbox):
        check_type("a box to tick", value, bool)
    else:
        check_type("a text", value, str)
        if len(str(value)) > MAX_TEXT_LENGTH:
            raise ValueError(f"a text has at most {MAX_TEXT_LENGTH} characters")


async def _read(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message["type"] == "http.request" and message.get("more_body", False)
    return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
