"""The record of one finished episode: everything that a report, a viewer, a re-grading or a replay may read."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from warroom.core.errors import describe_error


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call and what surrounded it."""

    turn: int
    """Turns spent before the call; readings share the turn of the act that follows."""
    seat: str
    observation: str
    """What the seat read before it called."""
    tool: str
    arguments: dict[str, Any]
    result: str
    """What the seat was answered."""
    reward: float
    points: dict[str, float]
    """Points by term after the call."""
    refused: bool


@dataclass(frozen=True, slots=True)
class Episode:
    """One incident played to its end by a named team."""

    env: str
    scenario: str
    tier: str
    seed: int
    split: str
    policy: str
    """The team as the command named it, such as `expert` or `oversight=expert,rest=heuristic`."""
    briefs: dict[str, str]
    steps: tuple[Step, ...]
    points: dict[str, float]
    total: float
    score: float
    outcome: dict[str, bool | float | None]
    """Metrics of the environment by name; None where one does not apply."""
    truth: dict[str, Any]
    options: dict[str, Any]
    """Whatever besides (scenario, tier, seed) the incident was built from."""
    attempt: int = 0
    """Which time this team met this incident; a policy that samples plays each attempt another way."""
    trajectory_hash: str = ""
    """Hash of the trajectory: what was shown, called, answered and paid, in order."""

    def to_json(self) -> str:
        """One line for `episodes.jsonl`."""
        return json.dumps(asdict(self), separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, line: str) -> "Episode":
        """Read a line of `episodes.jsonl`; a `ValueError` says that it is cut or foreign."""
        try:
            data = json.loads(line)
            steps = tuple(Step(**step) for step in data.pop("steps"))
            return cls(steps=steps, **data)
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise ValueError(f"not an episode record: {describe_error(error)}") from error


def trajectory_hash(steps: tuple[Step, ...]) -> str:
    """32 hex digits that two episodes share only if they showed, called, answered and paid the same, in order."""
    played = [[s.seat, s.observation, s.tool, s.arguments, s.result, round(s.reward, 6)] for s in steps]
    return hashlib.blake2b(json.dumps(played, sort_keys=True).encode(), digest_size=16).hexdigest()
