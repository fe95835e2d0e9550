"""One seat of one incident as a trainer plays it: texts come out, the model's calls go in."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from warroom.core.episode import trajectory_hash
from warroom.envs import environments
from warroom.policies import PolicySet
from warroom.policies.dialogue import Dialogue
from warroom.session import Play, Session, together

EARLY_EXIT_PENALTY = 0.25
"""What it costs, on the scale of the score, to end one's part by a message without a call before the incident ends.
Beside good colleagues an idle seat loses little else, and a group of rollouts that fall silent would teach silence."""
Result = TypeVar("Result")


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


# -- where a seat is played ---------------------------------------------------------------------------------


class Place(Protocol):
    """A seat's place in one incident, wherever that is played. Single use: `begin` first, and the sums after the end.

    What is a `Play` may ask colleagues who think, and can be played side by side with that of other places.
    """

    @property
    def done(self) -> bool:
        """Whether the incident is over."""
        ...

    def begin(self) -> Play[str]:
        """Come to the seat's first turn and return the job and its first page."""
        ...

    def call(self, name: str, arguments: dict[str, Any]) -> Play[tuple[str, bool]]:
        """Play one call: what the seat sees then (a reading's result, its next page, or that it is over), and whether
        the call was refused. After the end a call changes nothing."""
        ...

    def leave(self) -> Play[None]:
        """Idle to the end."""
        ...

    def score(self) -> float:
        """The team's score: 0 as the no-op policy, 1 as the oracle."""
        ...

    def points(self) -> Mapping[str, float]:
        """Points by term."""
        ...

    def trajectory_hash(self) -> str:
        """Hash of the trajectory, as episodes have it: equal play on equal incidents, equal hash."""
        ...


class Host(Protocol):
    """Who plays incidents in another process, such as a server, and offers seats in them."""

    def place(self, seat: str, scenario: str, tier: str, seed: int, options: Mapping[str, Any]) -> Place:
        """A seat of an incident that is not begun yet."""
        ...

    def together(self, plays: Sequence[Play[Result]]) -> list[Result]:
        """Play parts of several incidents side by side, so that the way to and fro is waited for once."""
        ...


class Here:
    """A place in this process, with colleagues around it."""

    def __init__(
        self,
        scenario: str,
        tier: str,
        seed: int,
        seat: str,
        team: PolicySet,
        renderer: str,
        options: Mapping[str, Any],
    ) -> None:
        self.session = Session(scenario, tier, seed, (seat,), team, options)
        self.env = self.session.env
        self.dialogue = Dialogue(environments()[self.env.name].renderers[renderer](self.env.brief(seat)))

    @property
    def done(self) -> bool:
        """Whether the incident is over."""
        return self.env.done

    def begin(self) -> Play[str]:
        """Come to the seat's first turn."""
        yield from self.session.begin()
        return self.dialogue.add_observation(self.env.observe())

    def call(self, name: str, arguments: dict[str, Any]) -> Play[tuple[str, bool]]:
        """Play one call."""
        turn = yield from self.session.play(self.dialogue.call(name, arguments))
        return self.dialogue.add_observation(self.env.observe()), turn.refused

    def leave(self) -> Play[None]:
        """Idle to the end."""
        yield from self.session.leave()

    def score(self) -> float:
        """The team's score."""
        return self.env.score()

    def points(self) -> dict[str, float]:
        """Points by term."""
        return self.env.points()

    def trajectory_hash(self) -> str:
        """Hash of the trajectory."""
        return trajectory_hash(tuple(self.session.steps))


# -- what a trainer makes of it -----------------------------------------------------------------------------


class Rollout:
    """A seat's part in one incident. Single use, like its place."""

    def __init__(self, seat: str, place: Place) -> None:
        self.seat, self.place = seat, place
        self.calls = self.refused = 0
        """Calls made before the end, and how many of them the environment refused."""
        self._first: str | None = None
        self.left = False
        """Whether the seat left before the end."""

    @property
    def done(self) -> bool:
        """Whether the incident is over."""
        return self.place.done

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
        return self.place.score() - EARLY_EXIT_PENALTY * self.left

    def terms(self) -> Mapping[str, float]:
        """Points by term once the incident is over."""
        self.finish()
        return self.place.points()

    def trajectory_hash(self) -> str:
        """Hash of the trajectory once the incident is over, as an evaluation would record it."""
        self.finish()
        return self.place.trajectory_hash()

    # -- the same in parts that can be played side by side with those of other incidents ---------------------

    def begin(self) -> Play[str]:
        """Come to the seat's first turn."""
        if self._first is None:
            self._first = yield from self.place.begin()
        return self._first

    def play(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> Play[list[str]]:
        """Play calls one after another and return what the seat sees after each."""
        seen = []
        for name, arguments in calls:
            self.calls += not self.done
            text, refused = yield from self.place.call(name, arguments)
            self.refused += refused
            seen.append(text)
        return seen

    def end(self) -> Play[None]:
        """Idle to the end."""
        self.left |= not self.done
        yield from self.place.leave()


class SeatRollout(Rollout):
    """A rollout in this process: whoever plays it may look behind it."""

    def __init__(
        self,
        scenario: str,
        tier: str,
        seed: int,
        seat: str,
        team: PolicySet,
        renderer: str,
        options: Mapping[str, Any],
    ) -> None:
        here = Here(scenario, tier, seed, seat, team, renderer, options)
        super().__init__(seat, here)
        self.env, self.dialogue = here.env, here.dialogue
