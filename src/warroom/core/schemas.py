"""A seat's tools as models are given them: one list of function schemas, in two variants.

*Closed* schemas list the values of this very incident, such as its service names, as `enum`. They are for models that
were not trained here: behind an API, over MCP, at a server's client.

*Open* schemas hold nothing of the incident, so that a trained model is shown the same tools in all of them. Chat
templates print schemas, so their bytes belong to what a model was trained on: open schemas have exactly the form that
trainers derive from Python functions, in the order of the alphabet.
"""

from collections.abc import Iterable
from typing import Protocol

from warroom.core.types import JsonObject

Schema = JsonObject
"""The JSON schema of one function: `name`, `description` and `parameters`."""
_OPEN_KEYS = ("type", "items", "description")


class HasSchemas(Protocol):
    """Whatever describes a seat's tools by schema: a renderer."""

    def tool_schemas(self, *, closed: bool = False) -> tuple[Schema, ...]:
        """Function schemas of the seat's tools."""


def tool_schemas(renderer: HasSchemas, *, closed: bool = False) -> list[Schema]:
    """The seat's tools as chat templates and the OpenAI API take them."""
    return [{"type": "function", "function": schema} for schema in renderer.tool_schemas(closed=closed)]


def open_schemas(schemas: Iterable[Schema]) -> tuple[Schema, ...]:
    """The open variant of closed schemas."""
    return tuple(_open(schema) for schema in sorted(schemas, key=lambda schema: str(schema["name"])))


def _open(schema: Schema) -> Schema:
    parameters = schema["parameters"]
    properties = {
        name: {key: field[key] for key in _OPEN_KEYS if key in field}
        for name, field in parameters["properties"].items()
    }
    written: Schema = {"type": "object", "properties": properties}
    if parameters["required"]:
        written["required"] = list(parameters["required"])
    return {"name": schema["name"], "description": schema["description"], "parameters": written}
