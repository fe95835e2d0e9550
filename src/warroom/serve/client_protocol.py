"""The client's side of the protocol without its transport: the sync and the async client share it.

A server discards an incident when its socket breaks. Incidents are deterministic, so nothing is lost: the client begins
the same incident on a new socket, repeats its calls, compares every answer with the one it had, and continues.
"""

import hashlib
import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, fields
from typing import Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

from warroom.core.errors import quote_input
from warroom.core.types import JsonObject

Parsed = TypeVar("Parsed")
CAPACITY_REACHED = "CAPACITY_REACHED"


@dataclass(frozen=True)
class SeatObservation:
    """The answer to a reset or a call: what the acting seat is shown, and how the episode stands."""

    seat: str
    """Whose turn it is; after the end, the last one's."""
    text: str
    """What that seat is shown; the first time its brief comes first."""
    done: bool
    reward: float | None
    """None after a reset; see `docs/serve.md` for what it is after a call."""
    turn: int
    """Turns spent."""
    budget: int
    """Most turns that the incident lasts."""
    refused: bool = False
    """Whether the call was wrong and cost its turn."""
    tools: list[JsonObject] = field(default_factory=list)
    """Function schemas of the seat's tools, with its first observation; empty later."""
    score: float | None = None
    """Once it is over: 0 for the no-op policy, 1 for the oracle, clipped to [-1, 1]."""
    points: dict[str, float] = field(default_factory=dict)
    """Once it is over: points by term."""
    outcome: dict[str, bool | float | None] = field(default_factory=dict)
    """Once it is over: metrics by name."""
    trajectory_hash: str = ""
    """Once it is over: hash of the trajectory."""
    spec: str = ""
    """Once it is over: the episode as one text; empty unless the client named the scenario itself."""
    debug: bool = False
    """Whether the server reveals the truth: nothing played there is a result."""
    truth: JsonObject = field(default_factory=dict)
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
    """The public part of a task; `reset(split=task.split, index=task.index)` begins it."""

    id: str
    index: int
    split: str
    difficulty: str
    """Its tier."""
    group: str


class RequestRefused(ValueError):
    """The server refused a request; the message is its own."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code
        """OpenEnv's name for the kind of error."""


class ServerUnreachable(ConnectionError):
    """There is no server, or none that continues the episode."""


class ServerTimeout(TimeoutError):
    """The server took longer than the timeout."""


class ReplayDiverged(RuntimeError):
    """After a broken socket the server answered the same calls differently: it is not the same incident."""


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


ProtocolCommand = OpenSocket | Backoff | SendMessage
ProtocolFlow = Generator[ProtocolCommand, str, Parsed]
"""Yields commands to the transport, is sent the answer to each or thrown a `ConnectionDropped`, returns its result."""


@dataclass(frozen=True)
class Done(Generic[Parsed]):
    """A flow has returned."""

    result: Parsed


def resume(flow: ProtocolFlow[Parsed], answer: str | ConnectionDropped | None) -> ProtocolCommand | Done[Parsed]:
    """The next command of a flow, given the answer to the last one (None starts it), or its result."""
    try:
        if isinstance(answer, ConnectionDropped):
            return flow.throw(answer)
        return next(flow) if answer is None else flow.send(answer)
    except StopIteration as end:
        return Done(end.value)


class ClientProtocol:
    """The client's side of one session: its requests, the answers, and how to resume after a broken socket."""

    def __init__(self, url: str, timeout: float, attempts: int) -> None:
        self.url, self.timeout, self.attempts = checked(url), timeout, attempts
        self.open = False
        """Whether there is a socket, and the server on it knows the episode."""
        self.episode_id: str | None = None
        self.tools: dict[str, list[JsonObject]] = {}
        """Function schemas of the tools of each seat met in this episode."""
        self.reconnections = 0
        """How often a socket broke and the episode was resumed on another."""
        self._episodes = 0
        self._history: list[tuple[str, bytes]] = []
        """The reset and the calls of this episode, with a hash of each answer."""

    @property
    def socket_url(self) -> str:
        """The address of the socket."""
        parts = urlsplit(self.url)
        scheme = {"http": "ws", "https": "wss"}[parts.scheme]
        return urlunsplit((scheme, parts.netloc, parts.path + "/ws", "", ""))

    def reset_flow(self, options: Mapping[str, object]) -> ProtocolFlow[SeatObservation]:
        """Begin an incident. Without seed, index and spec these are incidents 0, 1, 2, ... of what is asked for."""
        episode_id = options.get("episode_id") or uuid4().hex
        asked = {**options, "episode_id": episode_id}
        if options.get("seed") is None and "index" not in options and "spec" not in options:
            asked["seed"] = self._episodes
        text = _encode({"type": "reset", "data": asked})
        data = yield from self._request(text)
        self._episodes, self.episode_id = self._episodes + 1, str(episode_id)
        self._history, self.tools = [(text, _hash(data))], {}
        return self._observation(data)

    def call_flow(self, action: Mapping[str, object]) -> ProtocolFlow[SeatObservation]:
        """Make a call."""
        text = _encode({"type": "step", "data": action})
        data = yield from self._request(text)
        self._history.append((text, _hash(data)))
        return self._observation(data)

    def state_flow(self) -> ProtocolFlow[EpisodeStatus]:
        """Ask for the state of the episode."""
        data = yield from self._request(_encode({"type": "state"}))
        return _parsed(EpisodeStatus, data)

    def _observation(self, data: JsonObject) -> SeatObservation:
        observation = _parsed(SeatObservation, {**data["observation"], "reward": data["reward"], "done": data["done"]})
        if observation.tools:
            self.tools[observation.seat] = observation.tools
        return observation

    def _request(self, text: str) -> ProtocolFlow[JsonObject]:
        """The data of the answer, on a new socket if the present one is broken."""
        last_error: Exception | None = None
        for attempt in range(self.attempts):
            if attempt:
                yield Backoff(min(0.1 * 2**attempt, 3.0))
            try:
                if not self.open:
                    yield from self._connect()
                answer = yield SendMessage(text)
                return _data(answer)
            except ConnectionDropped as error:
                self.open, last_error = False, error
            except RequestRefused as error:
                if error.code != CAPACITY_REACHED:
                    raise
                self.open, last_error = False, error
        raise ServerUnreachable(f"{self.url}: {last_error}; tried {self.attempts} times") from last_error

    def _connect(self) -> ProtocolFlow[None]:
        """Connect, and repeat the episode so far on a server that does not know it."""
        yield OpenSocket()
        for number, (text, known) in enumerate(self._history):
            answer = yield SendMessage(text)
            if _hash(_data(answer)) != known:
                what = f"call {number}" if number else "the reset"
                raise ReplayDiverged(
                    f"{self.url} answered {what} of the episode differently than before the socket broke"
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


def _encode(message: Mapping[str, object]) -> str:
    try:
        return json.dumps(message)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a call is sent as JSON, and this one cannot be: {error}") from error


def _data(answer: str) -> JsonObject:
    """The data of an answer; an error frame is a `RequestRefused`."""
    message: JsonObject = json.loads(answer)
    data: JsonObject = message["data"]
    if message["type"] == "error":
        detail = "".join(f"; {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in data.get("errors", ()))
        raise RequestRefused(data["message"] + detail, data.get("code", ""))
    return data


def _hash(data: JsonObject) -> bytes:
    return hashlib.blake2b(json.dumps(data, sort_keys=True).encode(), digest_size=16).digest()


def _parsed(kind: type[Parsed], data: JsonObject) -> Parsed:
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in data.items() if name in known})
