"""What a server offers its clients: seats, colleagues and incidents; and the record of what they play."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from warroom.core.env import Env
from warroom.envs import find
from warroom.episode import Episode
from warroom.policies import PolicySet
from warroom.runs import Run, key_of
from warroom.serve.reset_request import ResetRequest
from warroom.serve.table import Table


@dataclass(frozen=True)
class McpConfig:
    """The incidents that clients may start. Which scenario an incident is of, only the debriefing says."""

    env: str
    seats: tuple[str, ...]
    """The seats that a client takes."""
    scenarios: tuple[str, ...]
    """Ids of the scenarios that incidents are drawn from."""
    named: bool = False
    """Whether whoever serves named the scenario, so that it is no secret."""
    team: PolicySet | None = None
    """Who plays the other seats."""
    player: str = "mcp"
    """The name under which episodes are recorded."""
    tier: str = "easy"
    """Of the first incident."""
    index: int = 0
    """Of the first incident, within the split."""
    split: str = "dev"
    options: Mapping[str, Any] = field(default_factory=dict)
    debrief: bool = False
    """Whether the truth is told once an incident is over."""
    open_values: bool = False
    """Whether schemas leave out the incident's own names, for clients that never list the tools again."""

    def table(self, tier: str, index: int) -> Table:
        """Incident number `index` of a tier; a `ValueError` says why there is none, and names no scenario."""
        request = ResetRequest(
            self.env, None, self.scenarios, self.split, tier, index, self.seats, self.team,
            named=self.named, options=self.options,
        )  # fmt: skip
        return request.table()


class EpisodeWriter:
    """Writes finished episodes into a run folder; what a full disk keeps out waits in memory for the next."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.pending: list[Episode] = []
        """Finished and not on disk yet."""

    def write(self, episode: Episode) -> None:
        """Write an episode, and any that waits; a `ValueError` says why the disk refused."""
        self.pending.append(episode)
        while self.pending:
            first = self.pending[0]
            key = key_of(first)
            # Clients meet the same incident as often as they like; each time is an attempt of its own.
            times = sum(count for played, count in self.run.played.items() if played._replace(attempt=0) == key)
            self.run.append(key._replace(attempt=times), replace(first, attempt=times).to_json())
            del self.pending[0]


def debriefing(env: Env, scenario: str) -> str:
    """What it truly was, once it is over: the scenario, the truth, what came of it and what would have."""
    lines = [f"It was {scenario}: {find(scenario)[1].story}"]
    for title, facts in (("truth", env.truth()), ("outcome", env.outcome())):
        told = ", ".join(f"{name} {_plain(value)}" for name, value in facts.items() if value is not None)
        lines.append(f"{title}: {told}")
    return "\n".join([*lines, *env.counterfactual()])


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_plain, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
