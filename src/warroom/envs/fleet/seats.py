"""The seats of the fleet in the order of their turns, and the tools with which they read."""

SEATS = ("sre", "oversight", "developer", "manager")
OBSERVERS = ("sre", "oversight")
"""Seats that see how all services fare."""
READINGS = (
    *("metrics", "series", "logs", "traces", "alerts", "record", "charter", "diff", "running", "approvals", "calendar"),
)  # fmt: skip
"""Tools that end no turn: each is named after what `Sources` reads."""
