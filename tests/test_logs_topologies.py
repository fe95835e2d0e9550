"""The log environment on the smallest systems that an import may give: every scenario plays, or says why it cannot."""

import json

import pytest

from warroom.core.errors import IncompatibleTopology
from warroom.core.spec import EpisodeSpec
from warroom.envs import scenarios
from warroom.envs.logs.options import LogsOptions
from warroom.envs.logs.scenario import OutageScenario
from warroom.policies import policy_set
from warroom.rollout import play

PAIRS = {kind: (("web", "other"), ("gateway", kind), ((0, 1),)) for kind in ("service", "db", "cache", "queue")}
SMALL = {
    **PAIRS,
    "star": (("web", "cache", "db"), ("gateway", "cache", "db"), ((0, 1), (0, 2))),
    "star with a service": (("web", "api", "db"), ("gateway", "service", "db"), ((0, 1), (0, 2))),
}


@pytest.mark.parametrize("shape", SMALL)
def test_every_scenario_plays_on_a_small_system_or_is_refused_with_a_sentence(shape: str) -> None:
    text = json.dumps(dict(zip(("names", "kinds", "calls"), SMALL[shape], strict=True)))
    drawn = [id for id, scenario in scenarios().items() if isinstance(scenario, OutageScenario)]
    played, refused = 0, list[str]()
    for id in drawn:
        for tier in ("easy", "hard"):
            try:
                episode = play(EpisodeSpec(id, tier, 0, LogsOptions(topology=text)), policy_set("logs", "expert"))
            except IncompatibleTopology as refusal:
                refused.append(str(refusal))
            else:
                played += bool(episode.steps)
    assert played >= len(drawn) and all("no service of this topology can carry" in each for each in refused)
