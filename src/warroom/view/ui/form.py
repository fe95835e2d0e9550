"""A form for a person's call, made from a tool: what it asks for, and the call that its answers mean."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from warroom.core.env import Env
from warroom.core.tools import MAX_TEXT_LENGTH, Parameter, Tool
from warroom.core.types import JsonObject, ToolCall
from warroom.core.words import split_list

Kind = Literal["choice", "text", "number", "flag"]


class Field(NamedTuple):
    """One question of the form."""

    name: str
    kind: Kind
    help: str
    required: bool
    choices: tuple[str, ...] = ()
    lines: int = 1
    """Height of a text."""


def reads_left(env: Env) -> int:
    """Readings that the acting seat may still make in this turn."""
    return max(0, env.reads_per_turn - env.reads)


def available_tools(env: Env) -> list[Tool]:
    """What the acting seat can call now: readings while there are any left, then acts."""
    own = env.tools_of(env.seat)
    reads = [tool for tool in own if not tool.ends_turn] if reads_left(env) else []
    return [*reads, *[tool for tool in own if tool.ends_turn]]


def fields(tool: Tool, allowed_values: Mapping[str, Sequence[str]]) -> list[Field]:
    """The questions of a tool, in the order of its parameters."""
    return [_field(parameter, allowed_values) for parameter in tool.parameters]


def call_of(tool: Tool, answers: Mapping[str, object]) -> ToolCall:
    """The call that the answers mean. A `ValueError` asks for what is missing; the environment judges the rest."""
    arguments = JsonObject()
    for parameter in tool.parameters:
        value = _value(parameter, answers.get(parameter.name))
        if value is not None:
            arguments[parameter.name] = value
        elif parameter.required:
            raise ValueError(f"{tool.name} needs “{display_name(parameter.name)}”: fill it in; nothing was played")
    return ToolCall(tool.name, arguments)


def display_name(name: str) -> str:
    """A name of the program's as a person reads it."""
    return name.replace("_", " ")


def signed(points: float) -> str:
    """Points with their sign, whole; nothing is +0."""
    return f"{round(points):+d}"


def most_fields(tools: Sequence[Tool]) -> int:
    """Questions of the longest form among the tools."""
    return max(len(tool.parameters) for tool in tools)


def _field(parameter: Parameter, allowed_values: Mapping[str, Sequence[str]]) -> Field:
    choices = tuple(allowed_values[parameter.one_of]) if parameter.one_of else ()
    kinds: dict[type, Kind] = {bool: "flag", int: "number", float: "number"}
    kind: Kind = "choice" if choices else kinds.get(parameter.kind, "text")
    hint = "; several: one a line, or with commas" if parameter.kind is list else ""
    lines = 6 if parameter.max_length > MAX_TEXT_LENGTH else 1
    return Field(parameter.name, kind, parameter.description + hint, parameter.required, choices, lines)


def _value(parameter: Parameter, answer: object) -> object:
    """The answer as the tool takes it; None where it was left empty."""
    if parameter.kind is list:
        return [part for line in str(answer or "").splitlines() for part in split_list(line)]
    if parameter.kind is bool:
        return bool(answer)
    if answer is None or answer == "":
        return None
    if parameter.kind is int and isinstance(answer, float) and answer.is_integer():
        return int(answer)
    return answer
