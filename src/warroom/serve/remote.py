"""Seats on an OpenEnv server of ours, as a trainer plays them: one socket for each rollout that is under way."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple, Self, TypeVar

from warroom.core.env import EPISODE_OVER
from warroom.core.errors import EpisodeAborted
from warroom.core.splits import SEEDS_PER_SPLIT, split_of
from warroom.core.types import Message
from warroom.envs import environments, make
from warroom.serve.client import (
    ATTEMPTS,
    Client,
    ReplayDiverged,
    RequestRefused,
    SeatObservation,
    ServerTimeout,
    ServerUnreachable,
)
from warroom.session import Play, together

Result = TypeVar("Result")
MAX_CONCURRENT = 32
"""Rollouts that are waited for at the same time."""


class SeatTexts(NamedTuple):
    """What a seat's renderer says in every incident."""

    noop_call: tuple[str, dict[str, Any]]
    """The call that lets a turn pass."""
    over: str
    """What a seat sees once the incident is over."""


class RemoteHost:
    """A server that plays the incidents of one environment. Use it as a context manager, or `close` it.

    What goes wrong there is an `Unplayed`, with what the server or the client says about it.
    """

    def __init__(self, url: str, env: str, renderer: str, teammates: str, attempts: int = ATTEMPTS) -> None:
        """`url` is that of the environment, such as http://127.0.0.1:8000/fleet; `teammates` play beside the seat.

        A `ValueError` says that there is no server, or one of another environment.
        """
        self.url, self.env, self.renderer, self.teammates, self.attempts = url, env, renderer, teammates, attempts
        self._clients: list[Client] = []
        self._idle_clients: list[Client] = []
        self._texts: dict[str, SeatTexts] = {}
        self._executor = ThreadPoolExecutor(MAX_CONCURRENT, "warroom-rollout")
        self._check_server()

    def place(self, seat: str, scenario: str, tier: str, seed: int, options: Mapping[str, Any]) -> "RemotePlace":
        """A seat of an incident that is not begun yet."""
        asked = {
            "split": split_of(seed).value, "seed": seed % SEEDS_PER_SPLIT, "scenario": scenario, "tier": tier,
            "renderer": self.renderer, **options,
        }  # fmt: skip
        if len(environments()[self.env].seats) > 1:
            asked |= {"seats": seat, "teammates": self.teammates}
        if seat not in self._texts:
            self._texts[seat] = self._seat_texts(seat, scenario, tier, seed, options)
        return RemotePlace(self, asked, self._texts[seat])

    def together(self, plays: Sequence[Play[Result]]) -> list[Result]:
        """Play parts of several incidents side by side, each on its own socket."""
        return list(self._executor.map(lambda play: together([play])[0], plays))

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """What may go wrong between here and there, in one word: the rollout could not be played."""
        try:
            yield
        except (RequestRefused, ServerUnreachable, ServerTimeout, ReplayDiverged) as error:
            raise EpisodeAborted(f"the server of the rollouts: {error}") from error

    def acquire_client(self) -> Client:
        """A session that nobody uses."""
        try:
            return self._idle_clients.pop()
        except IndexError:
            client = Client(self.url, attempts=self.attempts)
            self._clients.append(client)
            return client

    def release_client(self, client: Client) -> None:
        """Hand a session back, for another incident."""
        self._idle_clients.append(client)

    def close(self) -> None:
        """Hang up."""
        self._executor.shutdown()
        for client in self._clients:
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _check_server(self) -> None:
        client = self.acquire_client()
        with self.translate_errors():
            there = client.state().env
        self.release_client(client)
        if there != self.env:
            self.close()
            raise ValueError(f"{self.url} serves {there}, and {self.env} is to be played; name its address, or --env")

    def _seat_texts(self, seat: str, scenario: str, tier: str, seed: int, options: Mapping[str, Any]) -> SeatTexts:
        """The words of a seat, which are the same in every incident."""
        brief = make(scenario, tier, seed, **options).brief(seat)
        renderer = environments()[self.env].renderers[self.renderer](brief)
        return SeatTexts(renderer.format_call(brief.noop_call), renderer.render_observation(Message(EPISODE_OVER)))


class RemotePlace:
    """A seat of one incident on a server. Single use; its session goes to the next one when the incident is over."""

    def __init__(self, host: RemoteHost, asked: dict[str, Any], words: SeatTexts) -> None:
        self._host, self._asked, self._texts = host, asked, words
        self._client: Client | None = None
        self._observation: SeatObservation | None = None

    @property
    def done(self) -> bool:
        """Whether the incident is over."""
        return self._observation is not None and self._observation.done

    def begin(self) -> Play[str]:
        """Come to the seat's first turn and return the job and its first page."""
        yield from ()  # nobody here is asked: colleagues play on the server
        self._client = self._host.acquire_client()
        return self._ask(lambda client: client.reset(**self._asked)).text

    def call(self, name: str, arguments: dict[str, Any]) -> Play[tuple[str, bool]]:
        """Play one call: what the seat sees then, and whether the call was refused."""
        yield from ()
        if self.done:
            return self._texts.over, False
        observation = self._ask(lambda client: client.send({"tool": name, "arguments": arguments}))
        # A server says more at the end. A seat in process sees that it is over, and no model reads on from there.
        return (self._texts.over if observation.done else observation.text), observation.refused

    def leave(self) -> Play[None]:
        """Idle to the end."""
        if self._observation is None:
            yield from self.begin()
        while not self.done:
            yield from self.call(*self._texts.noop_call)

    def score(self) -> float:
        """The team's score."""
        score = self._last().score
        assert score is not None
        return score

    def points(self) -> dict[str, float]:
        """Points by term."""
        return self._last().points

    def trajectory_hash(self) -> str:
        """Hash of the trajectory."""
        return self._last().trajectory_hash

    def _ask(self, what: Callable[[Client], SeatObservation]) -> SeatObservation:
        assert self._client is not None, "begin first"
        with self._host.translate_errors():
            observation = self._observation = what(self._client)
        if observation.done:
            self._host.release_client(self._client)
            self._client = None
        return observation

    def _last(self) -> SeatObservation:
        assert self._observation is not None and self._observation.done, "the incident goes on"
        return self._observation
