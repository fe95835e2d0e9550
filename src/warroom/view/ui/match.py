"""One incident of one visitor: who sits where, how it was after each call, and how much of it may be shown."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from warroom.core.env import Env
from warroom.core.episode import Episode, Step
from warroom.core.errors import Unknown
from warroom.core.scenario import TIERS
from warroom.core.scene import STATES, Node, Scene, Section
from warroom.core.splits import SPAN, Split, seed_of
from warroom.core.types import ToolCall
from warroom.envs import environments, scenarios
from warroom.session import Session
from warroom.view.debrief import Debrief, debrief
from warroom.view.ui.picture import Places, places
from warroom.view.ui.seating import PERSON, alone, is_model, reason_of, seated

if TYPE_CHECKING:
    from warroom.policies.llm.exchange import Exchange

How = Literal["call", "turn", "end"]
FOREIGN = {"logs": ("logs/recorded",), "tickets": ("tickets/imported",)}
"""Scenarios that need files of the caller's, which a page does not take."""
RANDOM_INDEX = 10_000
"""Incidents of a split that a random choice picks from."""


@dataclass(frozen=True)
class Setup:
    """What a visitor chose."""

    scenario: str
    tier: str = "easy"
    split: str = "dev"
    index: int = 0
    """Which incident of the split, from 0."""
    seats: Mapping[str, str] = field(default_factory=dict)
    """The policy of each seat, or `person`."""
    surprise: bool = False
    """Whether the scenario stays hidden until the end."""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def env(self) -> str:
        """The environment's name."""
        return self.scenario.partition("/")[0]


class Sight(NamedTuple):
    """How much of an incident may be shown now."""

    seat: str | None
    """The seat through whose eyes one looks; None: everything."""
    truth: bool
    """Whether what only the truth knows may be shown."""


class Frame(NamedTuple):
    """The incident at one moment."""

    turn: int
    whole: Scene
    seen: Mapping[str, Scene]
    """By seat: where a person sits, and of a surprise everywhere."""


def playable(env: str) -> list[str]:
    """Ids of the scenarios that the page offers."""
    if env not in environments():
        raise Unknown("environment", env, environments())
    return [id for id in scenarios() if id.startswith(env + "/") and id not in FOREIGN.get(env, ())]


def random_index() -> int:
    """An incident at random; what is played has a seed all the same, and can be played again."""
    return random.SystemRandom().randrange(RANDOM_INDEX)


def random_scenario(env: str) -> str:
    """A scenario of `env` at random."""
    return random.SystemRandom().choice(playable(env))


class Match:
    """An incident that is watched or played. A call at a time; nothing moves where a model is missing."""

    def __init__(self, setup: Setup, exchange: "Exchange | None" = None) -> None:
        """Loads the models at the seats; those that cannot be loaded are in `unavailable`, with the reason."""
        _check(setup)
        self.setup = setup
        seed = seed_of(setup.split, setup.index)
        self.session = Session(setup.scenario, setup.tier, seed, options=setup.options)
        self.env.remember()
        self.persons = [seat for seat in self.env.SEATS if setup.seats[seat] == PERSON]
        self.policies, self.unavailable = seated(self.env, setup.seats, exchange)
        self.frames = [self._frame()]
        self.done = self.env.done
        """Whether the incident is over, and its last call can be drawn."""
        self.thinking: str | None = None
        """The seat whose model is writing."""
        self.stopping = False
        self._hands = Lock()

    @property
    def env(self) -> Env:
        """The incident itself."""
        return self.session.env

    @property
    def steps(self) -> list[Step]:
        """Every call so far that can be drawn: a visitor may look while one is being made."""
        return self.session.steps[: len(self.frames) - 1]

    @property
    def persons_turn(self) -> bool:
        """Whether it waits for a person."""
        return not self.done and not self.unavailable and self.env.seat in self.persons

    @property
    def playing(self) -> bool:
        """Whether a play goes on."""
        return self._hands.locked()

    @property
    def can_move(self) -> bool:
        """Whether a policy is to move, and all can."""
        return not self.done and not self.unavailable and self.env.seat in self.policies

    def sight(self, spoilers: bool = False) -> Sight:
        """A person sees what its seat was shown, until the end or until it asks for more."""
        if self.done or spoilers:
            return Sight(None, True)
        if self.persons:
            return Sight(self.env.seat if self.env.seat in self.persons else self._last_person(), False)
        return Sight(None, not self.setup.surprise)

    def scene(self, at: int, sight: Sight) -> Scene:
        """The incident after `at` calls, as far as it may be shown."""
        frame = self.frames[at]
        if sight.seat is not None:
            return frame.seen[sight.seat]
        return frame.whole if sight.truth else together(list(frame.seen.values()))

    def play(self, how: How) -> Iterator[None]:
        """Let the policies move: one call, to the end of the turn, or until a person's turn or the end.

        Yields whenever there is something new to draw. While one play goes on another does nothing.
        """
        if not self._hands.acquire(blocking=False):
            return
        try:
            self.stopping, turn = False, self.env.turn
            while self.can_move and not self.stopping:
                yield from self._move(self.env.seat)
                yield
                if how == "call" or (how == "turn" and self.env.turn != turn):
                    return
        finally:
            self.thinking = None
            self._hands.release()

    def rest(self, seconds: float) -> None:
        """Wait between two calls, so that a person can follow; a stop ends it."""
        end = time.monotonic() + seconds
        while not self.stopping and time.monotonic() < end:
            time.sleep(min(0.1, seconds))

    def take(self, call: ToolCall) -> Step:
        """A person's call; a `ValueError` if it is not a person's turn."""
        with self._hands:
            if not self.persons_turn:
                raise ValueError("it is not your turn")
            return self._step(call)

    @cached_property
    def episode(self) -> Episode:
        """The record of the finished incident."""
        names = dict.fromkeys(self.setup.seats.values())
        seats = ",".join(f"{seat}={name}" for seat, name in self.setup.seats.items())
        return self.session.episode(next(iter(names)) if len(names) == 1 else seats)

    @cached_property
    def debrief(self) -> Debrief:
        """What nobody may know before the end."""
        return debrief(self.env, self.setup.scenario, self.setup.options)

    @cached_property
    def places(self) -> Places:
        """Where the parts of the incident stand that may be seen at first: room left for others would tell of them."""
        seen = self.frames[0].seen
        return places(together(list(seen.values())) if seen else self.frames[0].whole)

    def _move(self, seat: str) -> Iterator[None]:
        name = self.setup.seats[seat]
        slow = is_model(name)
        if slow:
            self.thinking = seat
            yield
        try:
            with alone(name):
                call = self.policies[seat].act(self.env.observe())
        except Exception as error:  # a model's libraries and servers raise what they like; scripts are ours
            if not slow:
                raise
            self.unavailable[seat] = reason_of(error)
            return
        finally:
            self.thinking = None
        self._step(call)

    def _step(self, call: ToolCall) -> Step:
        self.session.step(call)
        self.frames.append(self._frame())
        self.done = self.env.done
        return self.steps[-1]

    def _frame(self) -> Frame:
        self.env.observe()  # whoever acts next has its page before it acts
        seats = self.env.SEATS if self.setup.surprise else self.persons
        return Frame(self.env.turn, self.env.scene(), {seat: self.env.scene(seat) for seat in seats})

    def _last_person(self) -> str:
        return next((step.seat for step in reversed(self.steps) if step.seat in self.persons), self.persons[0])


def together(scenes: Sequence[Scene]) -> Scene:
    """What several seats know between them: of each part the worst that is known, of each section the longest."""
    nodes, sections = dict[str, Node](), dict[str, Section]()
    for scene in scenes:
        for node in scene.nodes:
            nodes[node.name] = max(nodes.get(node.name, node), node, key=_known)
        for section in scene.sections:
            sections[section.title] = max(sections.get(section.title, section), section, key=lambda s: len(s.lines))
    edges = tuple(dict.fromkeys(edge for scene in scenes for edge in scene.edges))
    clock = max((scene.clock for scene in scenes), key=len)
    return Scene(clock, tuple(nodes.values()), edges, tuple(sections.values()))


def _known(node: Node) -> tuple[int, int]:
    return ("unknown", *(state for state in STATES if state != "unknown")).index(node.state), len(node.facts)


def _check(setup: Setup) -> None:
    """Refuse what no form of ours sends."""
    if setup.scenario not in playable(setup.env):
        raise Unknown("scenario", setup.scenario, playable(setup.env))
    if setup.tier not in TIERS:
        raise Unknown("tier", setup.tier, TIERS)
    if setup.split not in tuple(Split):
        raise Unknown("split", setup.split, tuple(Split))
    if not 0 <= setup.index < SPAN:
        raise ValueError(f"the number of the incident must lie in 0..{SPAN - 1}, got {setup.index}")
    missing = [seat for seat in environments()[setup.env].seats if seat not in setup.seats]
    if missing:
        raise ValueError(f"nobody sits at {', '.join(missing)}: choose a policy, or a person")
