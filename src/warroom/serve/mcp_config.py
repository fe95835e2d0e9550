"""What an MCP server offers its clients: seats, teammates and incidents; and the record of what they play."""

from dataclasses import dataclass, field, replace

from warroom.chat import Chat
from warroom.core.checks import check_choice
from warroom.core.env import Env
from warroom.core.options import Options
from warroom.core.scenario import TIERS
from warroom.core.splits import seed_of
from warroom.core.words import facts_in_words
from warroom.envs import find
from warroom.episode import Episode
from warroom.policies import PolicySet
from warroom.runs import Run, key_of
from warroom.serve.reset_request import ResetRequest, draw_specs


@dataclass(frozen=True)
class McpConfig:
    """The incidents that clients may start. The scenario of an incident is revealed by the debriefing alone."""

    env: str
    seats: tuple[str, ...]
    """The seats that a client takes."""
    scenarios: tuple[str, ...]
    """Ids of the scenarios that incidents are drawn from."""
    named: bool = False
    """Whether the operator named the scenario, so that it is no secret."""
    team: PolicySet | None = None
    """Who plays the other seats."""
    player: str = "mcp"
    """The name under which episodes are recorded."""
    tier: str = "easy"
    """Of the first incident."""
    index: int = 0
    """Of the first incident, within the split."""
    split: str = "dev"
    options: Options = field(default_factory=Options)
    debrief: bool = False
    """Whether the truth is revealed once an incident is over."""
    open_values: bool = False
    """Whether schemas leave out the incident's own names, for clients that never list the tools again."""

    def open(self, tier: str, index: int) -> Chat:
        """Incident number `index` of a tier; a `ValueError` says why there is none, and names no scenario."""
        check_choice("tier", tier, TIERS)
        request = ResetRequest(
            draw_specs(self.scenarios, tier, seed_of(self.split, index), self.options),
            seats=self.seats,
            teammates=self.team,
            closed=not self.open_values,
            named=self.named,
        )
        return request.open()


class EpisodeWriter:
    """Writes finished episodes into a run folder; what a full disk refuses waits in memory for the next."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.pending: list[Episode] = []
        """Finished and not on disk yet."""

    def write(self, episode: Episode) -> None:
        """Write an episode, and any that waits; a `ValueError` says why the disk refused."""
        self.pending.append(episode)
        while self.pending:
            numbered = self._numbered(self.pending[0])
            self.run.append(key_of(numbered), numbered.to_json())
            del self.pending[0]

    def _numbered(self, episode: Episode) -> Episode:
        """Clients play the same incident as often as they like; each time is an attempt of its own."""
        key = key_of(episode)
        times = sum(
            count
            for played, count in self.run.played.items()
            if played.policy == key.policy and replace(played.spec, attempt=0) == key.spec
        )
        return replace(episode, spec=replace(episode.spec, attempt=times))


def result_lines(env: Env) -> str:
    """How an incident ended that is over: turns, score, points by term."""
    terms = ", ".join(f"{name} {value:+g}" for name, value in env.points().items())
    return (
        f"turns {env.turn} of {env.budget}\n"
        f"score {env.score():+.2f} (0: doing nothing, 1: the best that can be done here)\n"
        f"points {env.total:+g}: {terms}"
    )


def debriefing(env: Env) -> str:
    """What the incident was, once it is over: scenario, truth, outcome, and what else would have happened."""
    lines = [f"It was {env.spec.scenario}: {find(env.spec.scenario)[1].story}"]
    for title, facts in (("truth", env.truth()), ("outcome", env.outcome())):
        lines.append(f"{title}: {facts_in_words(facts)}")
    return "\n".join([*lines, *env.counterfactual()])
