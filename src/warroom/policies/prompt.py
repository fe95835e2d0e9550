"""The message that a model wrote, read from its tokens: the same in training and in evaluation."""

from collections.abc import Mapping, Sequence
from typing import Any

from warroom.core.messages import MessageDict
from warroom.core.schemas import Schema

TAIL = 64
"""Tokens of the prompt's end that a parser is shown: they hold the opening of the model's message."""


def read_message(tokenizer: Any, ids: Sequence[int], prefix: Sequence[int], tools: Sequence[Schema]) -> MessageDict:
    """The message that a model wrote after `prefix`: `content`, and `tool_calls` if it called anything.

    A message whose calls cannot be read is text alone, and so ends the conversation. All calls of a message are played,
    in order; arguments that are no object are passed on under a name that no tool has, and the environment refuses it.
    """
    try:
        message = dict(tokenizer.parse_response(list(ids), prefix=list(prefix[-TAIL:]), tools=list(tools)))
        calls = [_call(call) for call in message.pop("tool_calls", None) or []]
    except (ValueError, TypeError, KeyError):  # what parsers raise at broken calls
        return {"role": "assistant", "content": tokenizer.decode(list(ids), skip_special_tokens=True)}
    return {**message, "content": message.get("content") or "", **({"tool_calls": calls} if calls else {})}


def _call(parsed: MessageDict) -> MessageDict:
    function = parsed["function"]
    name, arguments = function["name"], function.get("arguments")
    if not isinstance(name, str):
        raise TypeError(f"a call names its tool by a string, got {name!r}")
    if not isinstance(arguments, Mapping):
        arguments = {} if arguments is None else {"arguments": arguments}
    return {"type": "function", "function": {"name": name, "arguments": dict(arguments)}}
