"""Scripted policies of log triage: naive ones that a trained model has to beat, and an expert that weighs evidence."""

from warroom.core.policy import PolicyFactory
from warroom.envs.logs.policies.expert import expert
from warroom.envs.logs.policies.fusion import FUSION
from warroom.envs.logs.policies.naive import NAIVE

POLICIES: dict[str, PolicyFactory] = {"expert": expert, **NAIVE, **FUSION}
