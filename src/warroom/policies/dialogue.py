"""One seat's conversation with a model: the same in training and in evaluation, message by message."""

import json
from pathlib import Path
from typing import Any

from warroom.core.renderer import Renderer
from warroom.core.types import Observation, ToolCall

MANIFEST = "warroom.json"
"""The file beside a model's weights that says how it was trained to play."""


class Dialogue:
    """Messages as chat templates take them: first a user's (the job and the first page), then calls and results.

    After an act the tool's result is the seat's next page, which begins with the answer to the act.
    A message without a call ends the conversation: the seat leaves the rest of the incident to its colleagues.
    """

    def __init__(self, renderer: Renderer) -> None:
        self.renderer = renderer
        self.messages: list[dict[str, Any]] = []

    def add_observation(self, observation: Observation) -> str:
        """Put what the seat is shown into the conversation and return its text."""
        text = self.renderer.render_observation(observation)
        if not self.messages:
            text = "\n".join([part for part in (self.renderer.opening(), text) if part])
            self.messages.append({"role": "user", "content": text})
        else:
            name = self.messages[-1]["tool_calls"][0]["function"]["name"]
            self.messages.append({"role": "tool", "name": name, "content": text})
        return text

    def call(self, name: str, arguments: dict[str, Any]) -> ToolCall:
        """Put the model's call into the conversation and return what it means."""
        function = {"name": name, "arguments": arguments}
        self.messages.append(
            {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}
        )
        return self.renderer.parse_call(name, arguments)


def read_manifest(folder: Path) -> dict[str, Any]:
    """How the model of a folder plays: `renderer`, `env`, `max_completion_length`, `turn_tokens`; empty if unsaid."""
    path = folder / MANIFEST
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}
