"""Scripted policies of the fleet."""

from warroom.core.scenario import PolicyMaker

POLICIES: dict[str, PolicyMaker] = {}
