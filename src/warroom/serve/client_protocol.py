"""What a client and a server say to one another, apart from how it travels: the sync and the async client share it.

A server forgets an incident when its socket breaks. Incidents are deterministic, so nothing is lost: the client begins
the same incident on a new socket, makes its calls again, holds every answer against the one it had, and goes on.
"""

import hashlib
import json
from collections.abc import Generator
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

from warroom.core.errors import quote_input

Parsed = TypeVar("Parsed")
CAPACITY_REACHED = "CAPACITY_REACHED"


@dataclass(frozen=True)
class SeatObservation:
    """What a client is told: after a reset, and in answer to each call."""

    seat: str
    """Whose turn it is; after the end, whose was the last."""
    text: str
    """What that seat is shown; the job stands before its first page."""
    done: bool
    reward: float | None
    """None after a reset; see `docs/serve.md` for what it is after a call."""
    turn: int
    """Turns spent."""
    budget: int
    """Turns that the incident lasts at most."""
    refused: bool = False
    """Whether the call was wrong and cost its turn."""
    tools: list[dict[str, Any]] = field(default_factory=list)
    """Function schemas of the seat's tools, when it is shown its first page."""
    score: float | None = None
    """Once it is over: 0 as who does nothing, 1 as who knows the truth."""
    points: dict[str, float] = field(default_factory=dict)
    """Once it is over: points by term."""
    outcome: dict[str, bool | float | None] = field(default_factory=dict)
    """Once it is over: what came of it, by metric."""
    trajectory_hash: str = ""
    """Once it is over: hash of the trajectory."""
    spec: str = ""
    """Once it is over: the episode as one text; empty unless the client named the scenario itself."""
    debug: bool = False
    """Whether the server tells the truth: nothing played there is a result."""
    truth: dict[str, Any] = field(default_factory=dict)
    """What only the rubric knows; empty without `debug`."""


@dataclass(frozen=True)
class EpisodeStatus:
    """Where an episode stands."""

    env: str
    episode_id: str | None
    step_count: int
    """Calls since the reset, wrong ones and those after the end too."""
    seat: str
    seats: list[str]
    """The seats that the client plays."""
    turn: int
    budget: int
    done: bool


@dataclass(frozen=True)
class Task:
    """What may be known of a task; `reset(split=task.split, index=task.index)` begins it."""

    id: str
    index: int
    split: str
    difficulty: str
    """Its tier."""
    group: str


class RequestRefused(ValueError):
    """The server did not do what it was asked; the message is its own."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code
        """OpenEnv's name for the kind of error."""


class ServerUnreachable(ConnectionError):
    """There is no server, or none that goes on with the episode."""


class ServerTimeout(TimeoutError):
    """The server took longer than it was given."""


class ReplayDiverged(RuntimeError):
    """The same calls were answered otherwise by the server that the client came back to: not the same game."""


class ConnectionDropped(Exception):
    """The socket broke, or could not be opened; the client tries again."""


class OpenSocket(NamedTuple):
    """Open a new socket."""


class Backoff(NamedTuple):
    """Wait before another attempt."""

    seconds: float


class SendMessage(NamedTuple):
    """Send a message and wait for the answer."""

    text: str


ProtocolFlow = Generator[OpenSocket | Backoff | SendMessage, str, Parsed]
"""A question put to whoever holds the socket, who sends the answer in, or throws `Dropped`."""


class ClientProtocol:
    """The client's side of one session: what it asked, what it was told, and how to come back after a broken socket."""

    def __init__(self, url: str, timeout: float, attempts: int) -> None:
        self.url, self.timeout, self.attempts = checked(url), timeout, attempts
        self.open = False
        """Whether there is a socket, and the server on it knows the episode."""
        self.episode_id: str | None = None
        self.tools: dict[str, list[dict[str, Any]]] = {}
        """Function schemas of the tools of each seat met in this episode."""
        self.reconnections = 0
        """How often a socket broke and the episode was taken up on another."""
        self._episodes = 0
        self._history: list[tuple[str, bytes]] = []
        """The reset and the calls of this episode, with a hash of each answer."""

    @property
    def socket_url(self) -> str:
        """Where the socket is."""
        parts = urlsplit(self.url)
        scheme = {"http": "ws", "https": "wss"}[parts.scheme]
        return urlunsplit((scheme, parts.netloc, parts.path + "/ws", "", ""))

    def reset_flow(self, options: dict[str, Any]) -> ProtocolFlow[SeatObservation]:
        """Begin an incident. Without seed, index and spec these are incidents 0, 1, 2, ... of what is asked for."""
        asked = {**options, "episode_id": options.get("episode_id") or uuid4().hex}
        if options.get("seed") is None and "index" not in options and "spec" not in options:
            asked["seed"] = self._episodes
        text = _encode({"type": "reset", "data": asked})
        data = yield from self._request(text)
        self._episodes, self.episode_id = self._episodes + 1, asked["episode_id"]
        self._history, self.tools = [(text, _hash(data))], {}
        return self._observation(data)

    def call_flow(self, action: dict[str, Any]) -> ProtocolFlow[SeatObservation]:
        """Make a call."""
        text = _encode({"type": "step", "data": action})
        data = yield from self._request(text)
        self._history.append((text, _hash(data)))
        return self._observation(data)

    def state_flow(self) -> ProtocolFlow[EpisodeStatus]:
        """Ask where the episode stands."""
        data = yield from self._request(_encode({"type": "state"}))
        return _parsed(EpisodeStatus, data)

    def _observation(self, data: dict[str, Any]) -> SeatObservation:
        observation = _parsed(SeatObservation, {**data["observation"], "reward": data["reward"], "done": data["done"]})
        if observation.tools:
            self.tools[observation.seat] = observation.tools
        return observation

    def _request(self, text: str) -> ProtocolFlow[dict[str, Any]]:
        """The data of the answer, on a new socket if the present one is broken."""
        trouble: Exception | None = None
        for attempt in range(self.attempts):
            if attempt:
                yield Backoff(min(0.1 * 2**attempt, 3.0))
            try:
                if not self.open:
                    yield from self._connect()
                answer = yield SendMessage(text)
                return _data(answer)
            except ConnectionDropped as error:
                self.open, trouble = False, error
            except RequestRefused as error:
                if error.code != CAPACITY_REACHED:
                    raise
                self.open, trouble = False, error
        raise ServerUnreachable(f"{self.url}: {trouble}; tried {self.attempts} times") from trouble

    def _connect(self) -> ProtocolFlow[None]:
        """Connect, and bring a server that does not know the episode to where it stands."""
        yield OpenSocket()
        for number, (text, known) in enumerate(self._history):
            answer = yield SendMessage(text)
            if _hash(_data(answer)) != known:
                what = f"call {number}" if number else "the reset"
                raise ReplayDiverged(
                    f"{self.url} answered {what} of the episode otherwise than before the socket broke"
                )
        self.reconnections += bool(self._history)
        self.open = True


def checked(url: str) -> str:
    """The address of one environment's server, without a slash at its end."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    if scheme not in ("http", "https") or not parts.netloc:
        raise ValueError(
            f"the address of a server reads http://HOST:PORT or http://HOST:PORT/fleet, got {quote_input(url)}"
        )
    return urlunsplit((scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def _encode(message: dict[str, Any]) -> str:
    try:
        return json.dumps(message)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a call travels as JSON, and this one cannot: {error}") from error


def _data(answer: str) -> dict[str, Any]:
    """What an answer holds; an error frame is a `Refused`."""
    message: dict[str, Any] = json.loads(answer)
    data: dict[str, Any] = message["data"]
    if message["type"] == "error":
        detail = "".join(f"; {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in data.get("errors", ()))
        raise RequestRefused(data["message"] + detail, data.get("code", ""))
    return data


def _hash(data: dict[str, Any]) -> bytes:
    return hashlib.blake2b(json.dumps(data, sort_keys=True).encode(), digest_size=16).digest()


def _parsed(kind: type[Parsed], data: dict[str, Any]) -> Parsed:
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in data.items() if name in known})
