"""The file beside a model's weights that says how it was trained to play."""

import json
from pathlib import Path

from warroom.core.types import JsonObject

MANIFEST = "warroom.json"


def read_manifest(folder: Path) -> JsonObject:
    """How the model of a folder plays: `renderer`, `env`, `max_completion_length`, `turn_tokens`; empty if unsaid."""
    path = folder / MANIFEST
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}
