"""What one who is told the truth does: the ceiling of the score, and the proof that it can be reached."""

from functools import lru_cache

from warroom.core.rubric import Rubric
from warroom.core.splits import Split
from warroom.core.types import Event
from warroom.envs.certify import draw_until_certified
from warroom.envs.logs.incident import LogsIncident, SystemShape, draw_incident
from warroom.envs.logs.scenario import OutageScenario

ATTEMPTS = 60
SECURITY_RESPONSE = 2
"""Minutes after which security, once paged, has ended abuse."""


@lru_cache(maxsize=16)
def draw_certified(
    scenario: OutageScenario, tier: str, seed: int, *, shape: SystemShape, wording: Split, names: Split
) -> LogsIncident:
    """Draw until the certificate holds. The latest draws are kept, since the same incident is often played again."""

    def draw(attempt: int) -> LogsIncident:
        return draw_incident(scenario, tier, seed, attempt, shape=shape, wording=wording, names=names)

    return draw_until_certified(draw, ATTEMPTS, f"{scenario.name!r} (tier {tier}, seed {seed})")


def turns_to_close(incident: LogsIncident) -> int:
    """Turns of one who knows: a remedy each, then the end; what others end is waited for."""
    hits = incident.casting.hits
    if not hits:
        return 1
    turns = sum([story.row.remedy is not None for story in hits])
    for story in hits:
        if story.row.origin == "provider":
            turns = max(turns, (incident.provider_recovers - incident.casting.page) // 60)
        elif story.row.origin == "abuser":
            turns = max(turns, SECURITY_RESPONSE)
    return turns + 1


def most_points(rubric: Rubric, incident: LogsIncident) -> float:
    """Points of one who declares everything rightly and closes as soon as it may be closed."""
    turns = turns_to_close(incident)
    if not incident.casting.hits:
        return rubric.total({Event("ignored"): 0}, turns)
    events = [
        Event("severity_right"), Event("recovered"),
        *[Event("root_right", str(root)) for root in incident.roots],
        *[Event("team_right", team) for team in sorted(incident.teams)],
    ]  # fmt: skip
    return rubric.total(dict.fromkeys(events, 0), turns)
