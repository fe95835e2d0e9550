"""What can be left out of training: rogues by the family of their change, and by the rule that they broke."""

from collections.abc import Mapping

from warroom.core.env import Env
from warroom.core.scenario import DrawnTruth
from warroom.envs.fleet.env import FleetEnv
from warroom.sim.families import AGENTS, FAMILIES
from warroom.sim.records import GROUNDS


def rogues_of(env: Env) -> Mapping[str, frozenset[str]]:
    """Families and grounds of the rogues of an incident."""
    assert isinstance(env, FleetEnv)
    rogues = env.incident.rogues
    return {"family": frozenset(AGENTS[agent] for agent in rogues), "ground": frozenset(rogues.values())}


ROGUES = DrawnTruth({"family": tuple(FAMILIES), "ground": GROUNDS}, rogues_of)
