"""How calls are written in messages: as the API has them, or as text where a server knows no tools.

Reading is lenient. What cannot be read as a call of a tool by name is passed on under a name that no tool has, so the
environment refuses it, and the model is told why.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

UNREADABLE = "unreadable_call"
"""The tool that a call means whose name cannot be read."""
LONGEST_RAW = 200
"""Characters of unreadable words that are passed on."""
INTRODUCTION = """\
You act by calling tools. To call one, end your message with one line of this form and write nothing after it:
<tool_call>{"name": "TOOL", "arguments": {"ARGUMENT": "VALUE"}}</tool_call>
The tools, each with the JSON schema of its arguments:
"""
MOST_BRACES = 200
"""Opening braces of a text that are tried as the beginning of a call."""
OPEN, CLOSE, FENCE = "<tool_call>", "</tool_call>", "```"
_LABEL = re.compile(r"(?:json|tool_call)?\s*")
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_PLAIN_NAME = re.compile(r"[^a-zA-Z0-9_-]")


class ParsedCall(NamedTuple):
    """One call that a model wrote."""

    name: str
    arguments: dict[str, Any]
    identity: str = ""
    """The API's name for the call."""
    wrong: str = ""
    """Why it could not be read as it was meant; empty if it could."""


# -- the API's own calls ----------------------------------------------------------------------------


def api_calls(message: Mapping[str, Any], number: int) -> list[ParsedCall]:
    """The calls of a message; `number` makes identities where the server gives none."""
    found = message.get("tool_calls")
    return [_api_call(call, f"call_{number}_{k}") for k, call in enumerate(found if isinstance(found, list) else ())]


def _api_call(call: Any, identity: str) -> ParsedCall:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return _unreadable(json.dumps(call), "it names no function", identity)
    identity = sendable(str(call.get("id") or identity))
    name = function.get("name")
    if not isinstance(name, str) or not name:
        return _unreadable(json.dumps(function), "it names no function", identity)
    arguments, wrong = _arguments(function.get("arguments"))
    return ParsedCall(name, arguments, identity, wrong)


def api_message(message: Mapping[str, Any], calls: Sequence[ParsedCall]) -> dict[str, Any]:
    """What the model said, as the server is shown it again: readable, without what it thought."""
    out: dict[str, Any] = {"role": "assistant", "content": said(message) or None}
    if calls:
        out["tool_calls"] = [
            {"id": call.identity, "type": "function", "function": {"name": _plain(call.name), "arguments": _text(call)}}
            for call in calls
        ]
    elif not out["content"]:
        out["content"] = "(nothing)"  # servers refuse a message with neither text nor calls
    return out


def said(message: Mapping[str, Any]) -> str:
    """The words of a message."""
    content = message.get("content")
    return sendable(content) if isinstance(content, str) else ""


def sendable(text: str) -> str:
    """The text without halves of characters, which models can write and no server can be sent."""
    return text.encode(errors="replace").decode()


def _plain(name: str) -> str:
    return _PLAIN_NAME.sub("_", name)[:64]


def _text(call: ParsedCall) -> str:
    return json.dumps(call.arguments)


# -- calls as text ----------------------------------------------------------------------------------


def introduction(tools: Sequence[Mapping[str, Any]]) -> str:
    """What tells a model of its tools where the API cannot."""
    return INTRODUCTION + "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)


def text_calls(content: str) -> list[ParsedCall]:
    """The calls in a text: tagged ones, else fenced ones, else the first bare object that names a tool."""
    said = _THOUGHT.sub("", content)
    tagged = [_text_call(part.partition(CLOSE)[0].strip()) for part in said.split(OPEN)[1:]]
    if tagged:
        return tagged
    fenced = [call for raw in _fenced(said) if not (call := _text_call(raw)).wrong]
    return fenced or list(_bare(said))


def _fenced(said: str) -> Iterator[str]:
    """What stands between fences and may be an object. Fences within it do not end it, unless behind a brace."""
    parts = said.split(FENCE)
    last = len(parts) - 2  # nothing closes what comes after
    first = 1
    while first <= last:
        begun = parts[first][_label_end(parts[first]) :]
        if not begun.startswith("{"):
            first += 1
            continue
        closing = next((k for k in range(first, last + 1) if parts[k].rstrip().endswith("}")), None)
        if closing is None:
            return
        yield FENCE.join([begun, *parts[first + 1 : closing + 1]]).rstrip()
        first = closing + 2


def _label_end(part: str) -> int:
    found = _LABEL.match(part)
    assert found is not None
    return found.end()


def _text_call(raw: str) -> ParsedCall:
    read = _object(raw)
    if read is None:
        return _unreadable(raw, "it is not a JSON object")
    return _named(read) or _unreadable(raw, 'it has no "name"')


def _named(read: Mapping[str, Any]) -> ParsedCall | None:
    """The call that an object means; None if it names no tool."""
    name = next((read[key] for key in ("name", "tool", "function") if key in read), None)
    inner: Mapping[str, Any] = read
    if isinstance(name, Mapping):
        inner, name = name, name.get("name")
    if not isinstance(name, str) or not name:
        return None
    given = next((inner[key] for key in ("arguments", "args", "parameters", "input") if key in inner), None)
    arguments, wrong = _arguments(given)
    return ParsedCall(name, arguments, wrong=wrong)


def _bare(said: str) -> Iterator[ParsedCall]:
    decoder = json.JSONDecoder()
    for start in (found.start() for found in islice(re.finditer(r"\{", said), MOST_BRACES)):
        try:
            read, _ = decoder.raw_decode(said, start)
        except (ValueError, RecursionError):
            continue
        call = _named(read)
        if call is not None:
            yield call
            return


# -- both -------------------------------------------------------------------------------------------


def _arguments(given: Any) -> tuple[dict[str, Any], str]:
    """Arguments by name; what is no object is passed on under a name that no tool takes, with the reason."""
    if given is None or given == "":
        return {}, ""
    read = _object(given) if isinstance(given, str) else given
    if isinstance(read, dict) and _plain_json(read):
        return read, ""
    raw = given if isinstance(given, str) else repr(given)
    return {"arguments": raw[:LONGEST_RAW]}, "its arguments are no JSON object"


def _object(raw: str) -> dict[str, Any] | None:
    """An object of JSON, or of the Python that models write in its stead."""
    if "{" not in raw:
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(raw)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, dict) and all(isinstance(key, str) for key in found) and _plain_json(found):
            return found
    return None


def _plain_json(found: Any) -> bool:
    """Whether it can be written into a record: `literal_eval` also reads sets, bytes and the like."""
    try:
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _unreadable(raw: str, why: str, identity: str = "") -> ParsedCall:
    return ParsedCall(UNREADABLE, {"text": raw[:LONGEST_RAW]}, identity, why)
