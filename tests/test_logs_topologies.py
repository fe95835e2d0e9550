"""The log environment on the smallest systems that an import may give: every scenario plays, or says why it cannot."""

import json
import re

import pytest

from warroom.core.errors import IncompatibleTopology
from warroom.core.spec import EpisodeSpec
from warroom.envs import scenarios
from warroom.envs.logs.options import LogsOptions
from warroom.envs.logs.scenario import OutageScenario
from warroom.policies import policy_set
from warroom.rollout import play

PAIRS = {kind: (("web", "other"), ("gateway", kind), ((0, 1),)) for kind in ("service", "db", "cache", "queue")}
SERVICES = ("web", "a", "b", "c", "d")
SMALL = {
    "one service": (("web",), ("gateway",), ()),
    **PAIRS,
    "star": (("web", "cache", "db"), ("gateway", "cache", "db"), ((0, 1), (0, 2))),
    "star with a service": (("web", "api", "db"), ("gateway", "service", "db"), ((0, 1), (0, 2))),
    "chain": (SERVICES, ("gateway", *["service"] * 3, "queue"), tuple([(k, k + 1) for k in range(4)])),
    "ring": (SERVICES, ("gateway", *["service"] * 3, "db"), (*[(k, k + 1) for k in range(4)], (0, 4))),
}
NEEDS = {
    "double_fault": "needs two services of which neither depends on the other",
    "third_party_outage": r"\(provider\) needs a service that users' requests depend on",
}
"""Why a scenario may be refused."""


@pytest.mark.slow
@pytest.mark.parametrize("shape", SMALL)
def test_every_scenario_plays_on_a_small_system_or_is_refused_by_name_and_reason(shape: str) -> None:
    text = json.dumps(dict(zip(("names", "kinds", "calls"), SMALL[shape], strict=True)))
    drawn = [id for id, scenario in scenarios().items() if isinstance(scenario, OutageScenario)]
    played, refused = 0, dict[str, str]()
    for id in drawn:
        for tier in ("easy", "hard"):
            try:
                episode = play(EpisodeSpec(id, tier, 0, LogsOptions(topology=text)), policy_set("logs", "expert"))
            except IncompatibleTopology as refusal:
                refused[id.partition("/")[2]] = str(refusal)
            else:
                played += bool(episode.steps)
    for name, reason in refused.items():
        assert re.search(f"{name!r}.* ?{NEEDS[name]}", reason)
    assert played >= 2 * (len(drawn) - len(NEEDS))
