"""Scripted policies of log triage: naive ones that a trained model has to beat, and an expert that weighs evidence."""

from warroom.core.scenario import PolicyMaker
from warroom.envs.logs.policies.expert import expert
from warroom.envs.logs.policies.fusion import FUSION
from warroom.envs.logs.policies.naive import NAIVE

POLICIES: dict[str, PolicyMaker] = {"expert": expert, **NAIVE, **FUSION}
