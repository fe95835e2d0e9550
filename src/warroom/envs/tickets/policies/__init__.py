"""Policies that know the ticket desk."""

from warroom.core.scenario import PolicyMaker
from warroom.envs.tickets.policies.expert import Expert
from warroom.envs.tickets.policies.naive import NAIVE

POLICIES: dict[str, PolicyMaker] = {**NAIVE, "expert": Expert}
"""By name."""
