"""What passes between a seat and a model's tokens: the same, byte for byte, in training and in evaluation."""

from collections.abc import Mapping, Sequence
from typing import Any

from warroom.core.renderer import Renderer

TAIL = 64
"""Tokens of the prompt's end that a parser is shown: they hold the opening of the model's message."""


def tool_schemas(renderer: Renderer) -> list[dict[str, Any]]:
    """What `apply_chat_template(tools=...)` gets: a seat's tools in the order of the alphabet.

    A trainer derives its schemas from Python functions, so these have the form that such functions have: keys in that
    order, and no `required` where every argument may be left out.
    """
    schemas = sorted(renderer.tool_schemas(), key=lambda schema: str(schema["name"]))
    return [{"type": "function", "function": _function(schema)} for schema in schemas]


def _function(schema: Mapping[str, Any]) -> dict[str, Any]:
    parameters = schema["parameters"]
    fields = {
        name: {key: field[key] for key in ("type", "items", "description") if key in field}
        for name, field in parameters["properties"].items()
    }
    written: dict[str, Any] = {"type": "object", "properties": fields}
    if parameters["required"]:
        written["required"] = list(parameters["required"])
    return {"name": schema["name"], "description": schema["description"], "parameters": written}


def read_message(
    tokenizer: Any, ids: Sequence[int], prefix: Sequence[int], tools: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
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


def _call(parsed: Mapping[str, Any]) -> dict[str, Any]:
    function = parsed["function"]
    name, arguments = function["name"], function.get("arguments")
    if not isinstance(name, str):
        raise TypeError(f"a call names its tool by a string, got {name!r}")
    if not isinstance(arguments, Mapping):
        arguments = {} if arguments is None else {"arguments": arguments}
    return {"type": "function", "function": {"name": name, "arguments": dict(arguments)}}
