"""One seat of one incident as a trainer plays it: texts come out, the model's calls go in."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from warroom.envs import environments
from warroom.policies import Team
from warroom.policies.dialogue import Dialogue
from warroom.session import Play, Session, together

LEAVING = 0.25
"""What it costs, on the scale of the score, to end one's part by a message without a call before the incident ends.
Beside good colleagues an idle seat loses little else, and a group of rollouts that fall silent would teach silence."""


class Clock:
    """Seconds spent in environments, colleagues' scripts included; shared by all rollouts of a run."""

    def __init__(self) -> None:
        self.environment = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time that passes within."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.environment += time.perf_counter() - start


class SeatRollout:
    """A seat's part in one incident, with its colleagues around it. Single use, like the session within."""

    def __init__(
        self,
        scenario: str,
        tier: str,
        seed: int,
        seat: str,
        team: Team,
        language: str,
        options: Mapping[str, Any],
    ) -> None:
        self.session = Session(scenario, tier, seed, (seat,), team, options, record=False)
        self.env, self.seat = self.session.env, seat
        self.dialogue = Dialogue(environments()[self.env.name].languages[language](self.env.brief(seat)))
        self.calls = self.refused = 0
        """Calls made before the end, and how many of them the environment refused."""
        self._first: str | None = None
        self.left = False
        """Whether the seat left before the end."""

    @property
    def done(self) -> bool:
        """Whether the incident is over."""
        return self.env.done

    # -- one incident by itself -----------------------------------------------------------------------

    def opening(self) -> str:
        """The job and the seat's first page."""
        return together([self.begin()])[0]

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Play one call and return what the seat sees then: a reading's result, its next page, or that it is over."""
        return together([self.play([(name, arguments)])])[0][0]

    def finish(self) -> None:
        """Leave the rest of the incident to the colleagues: the seat idles to the end."""
        together([self.end()])

    def reward(self) -> float:
        """The team's score once the incident is over: 0 as the no-op policy, 1 as the oracle, less `LEAVING`."""
        self.finish()
        return self.env.score() - LEAVING * self.left

    def terms(self) -> dict[str, float]:
        """Points by term once the incident is over."""
        self.finish()
        return self.env.points()

    # -- the same in parts that can be played side by side with those of other incidents ---------------------

    def begin(self) -> Play[str]:
        """Come to the seat's first turn."""
        if self._first is None:
            yield from self.session.begin()
            self._first = self.dialogue.see(self.env.observe())
        return self._first

    def play(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> Play[list[str]]:
        """Play calls one after another and return what the seat sees after each."""
        seen = []
        for name, arguments in calls:
            self.calls += not self.done
            turn = yield from self.session.play(self.dialogue.call(name, arguments))
            self.refused += turn.refused
            seen.append(self.dialogue.see(self.env.observe()))
        return seen

    def end(self) -> Play[None]:
        """Idle to the end."""
        self.left |= not self.done
        yield from self.session.leave()
