"""What ends a cause: for a change that it is undone, for a failure of nature the repair of its mechanism."""

from typing import Literal

from warroom.sim.family import Mechanism

Repair = Literal["restart", "scale", "escalate"]

REMEDIES: dict[Mechanism, Repair | None] = {
    "capacity": "scale",
    "certificate": "escalate",
    "connections": "restart",
    "contention": "restart",
    "disk_space": "scale",
    "link_latency": "escalate",
    "locks": "restart",
    "memory": "restart",
    "name_resolution": "restart",
    "retry_storm": "scale",
    "transient": None,
}
"""The repair of each failure of nature. What a change did is undone by rolling that change back."""

WHY: dict[Repair, str] = {
    "restart": "fresh memory, locks, connections and name lookups, on other machines",
    "scale": "more processors, volumes and connections, enough to drain what has piled up",
    "escalate": "the owners of links and certificates put right what the team cannot change itself",
}
"""What each repair does, for the handbook."""

ENOUGH = 2.0
"""Replicas that a failure of nature needs, as a multiple of the usual number."""
