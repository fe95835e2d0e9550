"""What each visitor looks at, under the visitor's key: bounded in number and in time, apart from one another."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

from warroom.view.ui.match import Match
from warroom.view.ui.pages import EVERYONE

MAX_VISITORS = 200
"""Visitors whose incidents are kept; whoever was away longest gives way."""
IDLE_SECONDS = 1800.0
"""Seconds after which an incident that nobody looks at is dropped."""


@dataclass
class Visit:
    """A match, and how its visitor looks at it."""

    match: Match
    spoilers: bool = False
    seat: str = EVERYONE
    """Whose conversation is shown."""
    at: int | None = None
    """Calls after which it is shown; None: as it is now."""
    pace: float = 0.0
    """Seconds between two calls of a run."""


class _Entry(NamedTuple):
    visit: Visit
    last_seen: float


class Lobby:
    """A visit per visitor. Safe to use from many threads."""

    def __init__(
        self,
        max_visitors: int = MAX_VISITORS,
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.max_visitors, self.idle_seconds, self.clock = max_visitors, idle_seconds, clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def enter(self, visitor: str, visit: Visit) -> None:
        """Let a visitor look at something else; what it looked at before stops."""
        with self._lock:
            self._drop(visitor)
            self._entries[visitor] = _Entry(visit, self.clock())
            self._evict()

    def find(self, visitor: str) -> Visit | None:
        """The visitor's visit; None if there is none, or no longer."""
        with self._lock:
            self._evict()
            entry = self._entries.pop(visitor, None)
            if entry is None:
                return None
            self._entries[visitor] = entry._replace(last_seen=self.clock())
            return entry.visit

    def remove(self, visitor: str) -> None:
        """Forget a visitor; what plays for it stops."""
        with self._lock:
            self._drop(visitor)

    def _drop(self, visitor: str) -> None:
        entry = self._entries.pop(visitor, None)
        if entry is not None:
            entry.visit.match.stopping = True

    def _evict(self) -> None:
        oldest = self.clock() - self.idle_seconds
        while self._entries:
            visitor, entry = next(iter(self._entries.items()))
            if entry.last_seen >= oldest and len(self._entries) <= self.max_visitors:
                return
            self._drop(visitor)
