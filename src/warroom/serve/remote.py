"""Seats on an OpenEnv server of ours, as a trainer plays them: one socket for each rollout that is under way."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple, Self, TypeVar

from warroom.core.env import OVER
from warroom.core.errors import Unplayed
from warroom.core.splits import SPAN, split_of
from warroom.core.types import Notice
from warroom.envs import environments, make
from warroom.serve.client import ATTEMPTS, Client, Diverged, NoAnswer, Refused, Told, Unreachable
from warroom.session import Play, together

Result = TypeVar("Result")
AT_ONCE = 32
"""Rollouts that are waited for at the same time."""


class Words(NamedTuple):
    """What a seat's language says in every incident."""

    idle: tuple[str, dict[str, Any]]
    """The call that lets a turn pass."""
    over: str
    """What a seat sees once the incident is over."""


class RemoteHost:
    """A server that plays the incidents of one environment. Use it as a context manager, or `close` it.

    What goes wrong there is an `Unplayed`, with what the server or the client says about it.
    """

    def __init__(self, url: str, env: str, language: str, teammates: str, attempts: int = ATTEMPTS) -> None:
        """`url` is that of the environment, such as http://127.0.0.1:8000/fleet; `teammates` play beside the seat.

        A `ValueError` says that there is no server, or one of another environment.
        """
        self.url, self.env, self.language, self.teammates, self.attempts = url, env, language, teammates, attempts
        self._every: list[Client] = []
        self._free: list[Client] = []
        self._words: dict[str, Words] = {}
        self._hands = ThreadPoolExecutor(AT_ONCE, "warroom-rollout")
        self._meet()

    def place(self, seat: str, scenario: str, tier: str, seed: int, options: Mapping[str, Any]) -> "RemotePlace":
        """A seat of an incident that is not begun yet."""
        asked = {
            "split": split_of(seed).value, "seed": seed % SPAN, "scenario": scenario, "tier": tier,
            "language": self.language, **options,
        }  # fmt: skip
        if len(environments()[self.env].seats) > 1:
            asked |= {"seats": seat, "teammates": self.teammates}
        if seat not in self._words:
            self._words[seat] = self._say(seat, scenario, tier, seed, options)
        return RemotePlace(self, asked, self._words[seat])

    def together(self, plays: Sequence[Play[Result]]) -> list[Result]:
        """Play parts of several incidents side by side, each on its own socket."""
        return list(self._hands.map(lambda play: together([play])[0], plays))

    @contextmanager
    def asking(self) -> Iterator[None]:
        """What may go wrong between here and there, in one word: the rollout could not be played."""
        try:
            yield
        except (Refused, Unreachable, NoAnswer, Diverged) as error:
            raise Unplayed(f"the server of the rollouts: {error}") from error

    def take(self) -> Client:
        """A session that nobody uses."""
        try:
            return self._free.pop()
        except IndexError:
            client = Client(self.url, attempts=self.attempts)
            self._every.append(client)
            return client

    def give(self, client: Client) -> None:
        """Hand a session back, for another incident."""
        self._free.append(client)

    def close(self) -> None:
        """Hang up."""
        self._hands.shutdown()
        for client in self._every:
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _meet(self) -> None:
        client = self.take()
        with self.asking():
            there = client.state().env
        self.give(client)
        if there != self.env:
            self.close()
            raise ValueError(f"{self.url} serves {there}, and {self.env} is to be played; name its address, or --env")

    def _say(self, seat: str, scenario: str, tier: str, seed: int, options: Mapping[str, Any]) -> Words:
        """The words of a seat, which are the same in every incident."""
        brief = make(scenario, tier, seed, **options).brief(seat)
        language = environments()[self.env].languages[self.language](brief)
        return Words(language.phrase(brief.idle), language.show(Notice(OVER)))


class RemotePlace:
    """A seat of one incident on a server. Single use; its session goes to the next one when the incident is over."""

    def __init__(self, host: RemoteHost, asked: dict[str, Any], words: Words) -> None:
        self._host, self._asked, self._words = host, asked, words
        self._client: Client | None = None
        self._told: Told | None = None

    @property
    def done(self) -> bool:
        """Whether the incident is over."""
        return self._told is not None and self._told.done

    def begin(self) -> Play[str]:
        """Come to the seat's first turn and return the job and its first page."""
        yield from ()  # nobody here is asked: colleagues play on the server
        self._client = self._host.take()
        return self._ask(lambda client: client.reset(**self._asked)).text

    def call(self, name: str, arguments: dict[str, Any]) -> Play[tuple[str, bool]]:
        """Play one call: what the seat sees then, and whether the call was refused."""
        yield from ()
        if self.done:
            return self._words.over, False
        told = self._ask(lambda client: client.send({"tool": name, "arguments": arguments}))
        # A server says more at the end. A seat in process sees that it is over, and no model reads on from there.
        return (self._words.over if told.done else told.text), told.refused

    def leave(self) -> Play[None]:
        """Idle to the end."""
        if self._told is None:
            yield from self.begin()
        while not self.done:
            yield from self.call(*self._words.idle)

    def score(self) -> float:
        """The team's score."""
        score = self._last().score
        assert score is not None
        return score

    def points(self) -> dict[str, float]:
        """Points by term."""
        return self._last().points

    def digest(self) -> str:
        """Hash of the trajectory."""
        return self._last().digest

    def _ask(self, what: Callable[[Client], Told]) -> Told:
        assert self._client is not None, "begin first"
        with self._host.asking():
            told = self._told = what(self._client)
        if told.done:
            self._host.give(self._client)
            self._client = None
        return told

    def _last(self) -> Told:
        assert self._told is not None and self._told.done, "the incident goes on"
        return self._told
