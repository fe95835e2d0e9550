"""One incident of one visitor: who sits where, how it was after each call, and how much of it may be shown."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple

from warroom.core.env import Env
from warroom.core.errors import UnknownName
from warroom.core.scene import STATES, Node, Scene, Section
from warroom.core.spec import EpisodeSpec
from warroom.core.types import ToolCall
from warroom.envs import environments, scenarios
from warroom.episode import Episode, Step
from warroom.session import Session
from warroom.view.debrief import Debrief, debrief
from warroom.view.ui.graph_view import GraphLayouts, layouts
from warroom.view.ui.policy_choice import PERSON, error_summary, is_model, load_policies, model_lock

if TYPE_CHECKING:
    from warroom.policies.llm.client import LLMClient

PlayUntil = Literal["call", "turn", "end"]
EXTERNAL_SCENARIOS = {"logs": ("logs/recorded",), "tickets": ("tickets/imported",)}
"""Scenarios that need files of the caller's, which a page does not take."""
RANDOM_INDEX = 10_000
"""Incidents of a split that a random choice picks from."""


@dataclass(frozen=True)
class Setup:
    """What a visitor chose."""

    spec: EpisodeSpec
    seats: Mapping[str, str] = field(default_factory=dict)
    """The policy of each seat, or `person`."""
    surprise: bool = False
    """Whether the scenario stays hidden until the end."""


class Visibility(NamedTuple):
    """How much of an incident may be shown now."""

    seat: str | None
    """The seat through whose eyes one looks; None: everything."""
    truth: bool
    """Whether what only the truth knows may be shown."""


class Frame(NamedTuple):
    """The incident at one moment."""

    turn: int
    full_scene: Scene
    seat_scenes: Mapping[str, Scene]
    """By seat: where a person sits, and of a surprise everywhere."""


def playable(env: str) -> list[str]:
    """Ids of the scenarios that the page offers."""
    if env not in environments():
        raise UnknownName("environment", env, environments())
    return [id for id in scenarios() if id.startswith(env + "/") and id not in EXTERNAL_SCENARIOS.get(env, ())]


def random_index() -> int:
    """An incident at random; what is played has a seed all the same, and can be played again."""
    return random.SystemRandom().randrange(RANDOM_INDEX)


def random_scenario(env: str) -> str:
    """A scenario of `env` at random."""
    return random.SystemRandom().choice(playable(env))


class Match:
    """An incident that is watched or played. A call at a time; nothing moves where a model is missing."""

    def __init__(self, setup: Setup, client: "LLMClient | None" = None) -> None:
        """Loads the models at the seats; those that cannot be loaded are in `unavailable`, with the reason."""
        _check(setup)
        self.setup = setup
        self.session = Session(setup.spec)
        self.env.trace_observations()
        self.human_seats = [seat for seat in self.env.SEATS if setup.seats[seat] == PERSON]
        self.policies, self.unavailable = load_policies(self.env, setup.seats, client)
        self.frames = [self._frame()]
        self.done = self.env.done
        """Whether the incident is over, and its last call can be drawn."""
        self.thinking: str | None = None
        """The seat whose model is writing."""
        self.stopping = False
        self._play_lock = Lock()

    @property
    def env(self) -> Env:
        """The incident itself."""
        return self.session.env

    @property
    def steps(self) -> list[Step]:
        """Every call so far that can be drawn: a visitor may look while one is being made."""
        return self.session.steps[: len(self.frames) - 1]

    @property
    def human_turn(self) -> bool:
        """Whether it waits for a person."""
        return not self.done and not self.unavailable and self.env.seat in self.human_seats

    @property
    def playing(self) -> bool:
        """Whether a play goes on."""
        return self._play_lock.locked()

    @property
    def can_move(self) -> bool:
        """Whether a policy is to move, and all can."""
        return not self.done and not self.unavailable and self.env.seat in self.policies

    def visibility(self, spoilers: bool = False) -> Visibility:
        """A person sees what its seat was shown, until the end or until it asks for more."""
        if self.done or spoilers:
            return Visibility(None, True)
        if self.human_seats:
            return Visibility(self.env.seat if self.env.seat in self.human_seats else self._last_person(), False)
        return Visibility(None, not self.setup.surprise)

    def scene(self, at: int, visibility: Visibility) -> Scene:
        """The incident after `at` calls, as far as it may be shown."""
        frame = self.frames[at]
        if visibility.seat is not None:
            return frame.seat_scenes[visibility.seat]
        return frame.full_scene if visibility.truth else merge_scenes(list(frame.seat_scenes.values()))

    def play(self, until: PlayUntil) -> Iterator[None]:
        """Let the policies move: one call, to the end of the turn, or until a person's turn or the end.

        Yields whenever there is something new to draw. While one play goes on another does nothing.
        """
        if not self._play_lock.acquire(blocking=False):
            return
        try:
            self.stopping, turn = False, self.env.turn
            while self.can_move and not self.stopping:
                yield from self._move(self.env.seat)
                yield
                if until == "call" or (until == "turn" and self.env.turn != turn):
                    return
        finally:
            self.thinking = None
            self._play_lock.release()

    def pause(self, seconds: float) -> None:
        """Wait between two calls, so that a person can follow; a stop ends it."""
        end = time.monotonic() + seconds
        while not self.stopping and time.monotonic() < end:
            time.sleep(min(0.1, seconds))

    def submit(self, call: ToolCall) -> Step:
        """A person's call; a `ValueError` if it is not a person's turn."""
        with self._play_lock:
            if not self.human_turn:
                raise ValueError("it is not your turn")
            return self._step(call)

    @cached_property
    def episode(self) -> Episode:
        """The record of the finished incident."""
        names = dict.fromkeys(self.setup.seats.values())
        seats = ",".join(f"{seat}={name}" for seat, name in self.setup.seats.items())
        return self.session.result(next(iter(names)) if len(names) == 1 else seats)

    @cached_property
    def debrief(self) -> Debrief:
        """What nobody may know before the end."""
        return debrief(self.env)

    @cached_property
    def layouts(self) -> GraphLayouts:
        """Where the parts of the incident stand that may be seen at first: room left for others would tell of them."""
        seat_scenes = self.frames[0].seat_scenes
        return layouts(merge_scenes(list(seat_scenes.values())) if seat_scenes else self.frames[0].full_scene)

    def _move(self, seat: str) -> Iterator[None]:
        name = self.setup.seats[seat]
        slow = is_model(name)
        if slow:
            self.thinking = seat
            yield
        try:
            with model_lock(name):
                call = self.policies[seat].act(self.env.observe())
        except Exception as error:  # a model's libraries and servers raise what they like; scripts are ours
            if not slow:
                raise
            self.unavailable[seat] = error_summary(error)
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
        seats = self.env.SEATS if self.setup.surprise else self.human_seats
        return Frame(self.env.turn, self.env.scene(), {seat: self.env.scene(seat) for seat in seats})

    def _last_person(self) -> str:
        return next((step.seat for step in reversed(self.steps) if step.seat in self.human_seats), self.human_seats[0])


def merge_scenes(scenes: Sequence[Scene]) -> Scene:
    """What several seats know between them: of each part the worst that is known, of each section the longest."""
    nodes, sections = dict[str, Node](), dict[str, Section]()
    for scene in scenes:
        for node in scene.nodes:
            nodes[node.name] = max(nodes.get(node.name, node), node, key=_knowledge)
        for section in scene.sections:
            sections[section.title] = max(sections.get(section.title, section), section, key=lambda s: len(s.lines))
    edges = tuple(dict.fromkeys(edge for scene in scenes for edge in scene.edges))
    clock = max((scene.clock for scene in scenes), key=len)
    return Scene(clock, tuple(nodes.values()), edges, tuple(sections.values()))


def _knowledge(node: Node) -> tuple[int, int]:
    return ("unknown", *(state for state in STATES if state != "unknown")).index(node.state), len(node.facts)


def _check(setup: Setup) -> None:
    """Refuse what no form of ours sends."""
    spec = setup.spec
    if spec.scenario not in playable(spec.env):
        raise UnknownName("scenario", spec.scenario, playable(spec.env))
    missing = [seat for seat in environments()[spec.env].seats if seat not in setup.seats]
    if missing:
        raise ValueError(f"nobody sits at {', '.join(missing)}: choose a policy, or a person")
