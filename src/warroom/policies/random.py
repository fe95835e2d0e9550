"""The policy that draws a tool and its arguments by lot."""

from random import Random as Generator

from warroom.core.schemas import Schema
from warroom.core.types import Brief, Observation, ToolCall


class Random:
    """Draws one of the seat's acts uniformly, and each argument uniformly from its closed list."""

    def __init__(self, brief: Brief, rng: Generator) -> None:
        self.tools = [tool for tool in brief.tools if tool["name"] in brief.acts]
        self.rng = rng

    def act(self, observation: Observation) -> ToolCall:
        """Any act of the seat, with arguments that fit."""
        tool = self.rng.choice(self.tools)
        required = tool["parameters"]["required"]
        properties = tool["parameters"]["properties"]
        return ToolCall(tool["name"], {name: self._draw(properties[name]) for name in required})

    def _draw(self, schema: Schema) -> object:
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        return {
            "integer": self.rng.randint(1, 10),
            "number": self.rng.random(),
            "boolean": self.rng.random() < 0.5,
        }.get(schema["type"], "ok")
