"""One seat of one incident, played from outside call by call, with its colleagues around it."""

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from warroom.core.types import ToolCall
from warroom.envs import environments, make
from warroom.policies import Team
from warroom.policies.dialogue import Dialogue
from warroom.rollout import Asked, answered_together, thinker_of

Result = TypeVar("Result")
Play = Generator[Asked, ToolCall | None, Result]
"""A part of an incident that asks colleagues who think, and is sent their calls; scripts are played within."""


def together(plays: Sequence[Play[Result]]) -> list[Result]:
    """Play parts of several incidents side by side, so that one model answers for all of them at once."""
    calls: Mapping[int, ToolCall | None] = dict.fromkeys(range(len(plays)))
    done: dict[int, Result] = {}
    while calls:
        asked: dict[int, Asked] = {}
        for number, call in calls.items():
            try:
                asked[number] = plays[number].send(call)
            except StopIteration as end:
                done[number] = end.value
        calls = answered_together(asked)
    return [done[number] for number in range(len(plays))]


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
    """A seat's part in one incident: texts come out, tool calls go in.

    Colleagues play their turns in between. After the end a call changes nothing and is answered that the incident is
    over. Single use, like the environment within.
    """

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
        self.env = make(scenario, tier, seed, **options)
        self.seat = seat
        self.dialogue = Dialogue(environments()[self.env.name].languages[language](self.env.brief(seat)))
        self.calls = self.refused = 0
        """Calls made before the end, and how many of them the environment refused."""
        self._colleagues = {other: team.seat(self.env, other) for other in self.env.SEATS if other != seat}
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
            yield from self._until_own_turn()
            self._first = self.dialogue.see(self.env.observe())
        return self._first

    def play(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> Play[list[str]]:
        """Play calls one after another and return what the seat sees after each."""
        seen = []
        for name, arguments in calls:
            call = self.dialogue.call(name, arguments)
            self.calls += not self.env.done
            self.refused += self.env.step(call).refused
            yield from self._until_own_turn()
            seen.append(self.dialogue.see(self.env.observe()))
        return seen

    def end(self) -> Play[None]:
        """Idle to the end."""
        idle = self.env.brief(self.seat).idle
        self.left |= not self.env.done
        while not self.env.done:
            yield from self._until_own_turn()
            self.env.step(idle)
            yield from self._until_own_turn()

    def _until_own_turn(self) -> Play[None]:
        env = self.env
        while not env.done and env.seat != self.seat:
            policy, observation = self._colleagues[env.seat], env.observe()
            call = policy.act(observation) if thinker_of(policy) is None else (yield policy, observation)
            assert call is not None
            env.step(call)
