"""Failures that no change made: what a scripted seat takes them for, by the words of the logs."""

from warroom.envs.fleet.policies.knowledge import Knowledge
from warroom.envs.fleet.remedies import REMEDIES
from warroom.sim.family import Mechanism


def natural_cause(known: Knowledge, victim: str) -> Mechanism | None:
    """The failure whose words have become more frequent at a place; None if there are none."""
    return None


def repair_of(mechanism: str) -> str | None:
    """The repair that ends a failure of nature; None for anything else."""
    return dict(REMEDIES).get(mechanism)  # type: ignore[call-overload,no-any-return]
