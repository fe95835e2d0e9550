"""Scripted policies of log triage: naive ones that a trained model has to beat, and an expert that reads."""

from warroom.core.policy import PolicyFactory
from warroom.envs.logs.policies.expert import expert
from warroom.envs.logs.policies.recorded import FUSION

POLICIES: dict[str, PolicyFactory] = {"expert": expert, **FUSION}
