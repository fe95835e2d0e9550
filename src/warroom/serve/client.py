"""Play a server's incidents: `Client`, and `AsyncClient` for many at once.

with Client("http://127.0.0.1:8000/fleet") as client:
    observation = client.reset(seed=7, seats="sre")
    observation = client.call("metrics", service="gateway")
"""

import asyncio
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import AsyncExitStack, ExitStack, suppress
from functools import cached_property
from typing import Any, Self

from warroom.core.errors import MissingExtra
from warroom.core.strict_json import parse_json, parse_json_object
from warroom.core.types import JsonObject
from warroom.serve.access import TOKEN_VARIABLE
from warroom.serve.client_protocol import (
    Backoff,
    ClientProtocol,
    ConnectionDropped,
    Done,
    EpisodeStatus,
    OpenSocket,
    Parsed,
    ProtocolCommand,
    ProtocolFlow,
    ReplayDiverged,
    RequestRefused,
    SeatObservation,
    ServerTimeout,
    ServerUnreachable,
    Task,
    resume,
)

try:
    from websockets.asyncio.client import ClientConnection as AsyncSocket
    from websockets.asyncio.client import connect as connect_async
    from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
    from websockets.sync.client import ClientConnection as Socket
    from websockets.sync.client import connect
except ImportError as error:
    raise MissingExtra("serve", error) from error

__all__ = [
    "AsyncClient",
    "Client",
    "EpisodeStatus",
    "ReplayDiverged",
    "RequestRefused",
    "SeatObservation",
    "ServerTimeout",
    "ServerUnreachable",
    "Task",
]

TIMEOUT, ATTEMPTS = 60.0, 6
"""Seconds to wait for an answer, and how often a broken socket is opened again before the client gives up."""
REFUSED = (400, 401, 403, 421)
"""Statuses of a server that will not talk to this client, whatever it tries."""
MAX_ANSWER_BYTES = 16 * 1_048_576


class _ClientBase:
    """The client's side of a session."""

    def __init__(
        self, url: str, timeout: float = TIMEOUT, attempts: int = ATTEMPTS, *, token: str | None = None
    ) -> None:
        """`url` is that of one environment, such as http://127.0.0.1:8000/fleet; `timeout` is in seconds.

        `token` is what a server wants that other machines can reach; by default that of `WARROOM_TOKEN`.
        """
        self._token = token
        self._protocol = ClientProtocol(url, timeout, attempts)

    @property
    def tools(self) -> dict[str, list[JsonObject]]:
        """Function schemas of the tools of each seat met in this episode."""
        return self._protocol.tools

    @property
    def episode_id(self) -> str | None:
        """The id of the current episode."""
        return self._protocol.episode_id

    @property
    def reconnections(self) -> int:
        """How often a socket broke and the episode was resumed on another."""
        return self._protocol.reconnections

    @property
    def _headers(self) -> dict[str, str]:
        return authorization(self._token)

    def _settings(self) -> JsonObject:
        # The server pings; pings of the client would break the sockets of a busy one.
        return {
            "open_timeout": self._protocol.timeout, "ping_interval": None, "compression": None,
            "max_size": MAX_ANSWER_BYTES, "additional_headers": self._headers,
        }  # fmt: skip


class Client(_ClientBase):
    """One session with a server, one incident at a time. Use it as a context manager, or `close` it.

    Errors: `RequestRefused` if the server refuses (its message says what is allowed), `ServerUnreachable` if there is
    none, `ServerTimeout` if it hangs, `ReplayDiverged` if the server answers differently after a broken socket.
    """

    _socket: Socket | None = None

    @cached_property
    def _exit_stack(self) -> ExitStack:
        return ExitStack()

    def reset(self, /, **options: object) -> SeatObservation:
        """Begin an incident; `docs/serve.md` lists the options."""
        return self._drive(self._protocol.reset_flow(options))

    def call(self, tool: str, /, **arguments: object) -> SeatObservation:
        """Make a call of the seat whose turn it is."""
        return self.send({"tool": tool, "arguments": arguments})

    def send(self, action: Mapping[str, object]) -> SeatObservation:
        """Send an action as it is, such as a model's malformed call; the incident answers it."""
        return self._drive(self._protocol.call_flow(action))

    def state(self) -> EpisodeStatus:
        """Where the episode stands."""
        return self._drive(self._protocol.state_flow())

    # -- tasks, by HTTP -----------------------------------------------------------------------------

    def splits(self) -> list[str]:
        """Names of the splits that have tasks."""
        return [split["name"] for split in self._http(f"{self._env}/splits")]

    def num_tasks(self, split: str) -> int:
        """How many tasks a split has."""
        return int(self._http(f"{self._env}/num_tasks", {"split": split})["num_tasks"])

    def task(self, split: str, index: int) -> Task:
        """One task."""
        return Task(**self._http(f"{self._env}/task", {"split": split, "index": index})["task"])

    def tasks(self, split: str, start: int | None = None, stop: int | None = None) -> list[Task]:
        """The tasks of a split from `start` up to, not including, `stop`; all of them without bounds."""
        found = self._http(f"{self._env}/task_range", {"split": split, "start": start, "stop": stop})
        return [Task(**task) for task in found["tasks"]]

    @property
    def _env(self) -> str:
        return str(self._http("list_environments")[0])

    def _http(self, path: str, body: Mapping[str, object] | None = None) -> Any:
        return fetch(f"{self._protocol.url}/{path}", body, self._protocol.timeout, self._headers)

    # -- the socket ---------------------------------------------------------------------------------

    def close(self) -> None:
        """End the session; the server discards its incident."""
        self._socket, self._protocol.open = None, False
        self._exit_stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _drive(self, flow: ProtocolFlow[Parsed]) -> Parsed:
        answer: str | ConnectionDropped | None = None
        while not isinstance(command := resume(flow, answer), Done):
            answer = self._perform(command)
        return command.result

    def _perform(self, command: ProtocolCommand) -> str | ConnectionDropped:
        if isinstance(command, Backoff):
            time.sleep(command.seconds)
            return ""
        try:
            if isinstance(command, OpenSocket):
                self.close()
                opening = connect(self._protocol.socket_url, **self._settings())
                self._socket = self._exit_stack.enter_context(opening)
                return ""
            assert self._socket is not None
            with suppress(ConnectionClosed):  # what the server sent before it closed can still be read
                self._socket.send(command.text)
            return str(self._socket.recv(timeout=self._protocol.timeout))
        except TimeoutError as error:
            self.close()
            raise _timed_out(self._protocol) from error
        except (ConnectionClosed, InvalidHandshake, OSError) as error:
            return _dropped(error, self._protocol.url)


class AsyncClient(_ClientBase):
    """The same for `async` code: many sessions on one thread. Use it as an async context manager, or `close` it."""

    _socket: AsyncSocket | None = None

    @cached_property
    def _exit_stack(self) -> AsyncExitStack:
        return AsyncExitStack()

    @cached_property
    def _tasks(self) -> Client:
        return Client(self._protocol.url, self._protocol.timeout, token=self._token)

    async def reset(self, /, **options: object) -> SeatObservation:
        """Begin an incident; `docs/serve.md` lists the options."""
        return await self._drive(self._protocol.reset_flow(options))

    async def call(self, tool: str, /, **arguments: object) -> SeatObservation:
        """Make a call of the seat whose turn it is."""
        return await self.send({"tool": tool, "arguments": arguments})

    async def send(self, action: Mapping[str, object]) -> SeatObservation:
        """Send an action as it is, such as a model's malformed call; the incident answers it."""
        return await self._drive(self._protocol.call_flow(action))

    async def state(self) -> EpisodeStatus:
        """Where the episode stands."""
        return await self._drive(self._protocol.state_flow())

    async def splits(self) -> list[str]:
        """Names of the splits that have tasks."""
        return await asyncio.to_thread(self._tasks.splits)

    async def num_tasks(self, split: str) -> int:
        """How many tasks a split has."""
        return await asyncio.to_thread(self._tasks.num_tasks, split)

    async def task(self, split: str, index: int) -> Task:
        """One task."""
        return await asyncio.to_thread(self._tasks.task, split, index)

    async def tasks(self, split: str, start: int | None = None, stop: int | None = None) -> list[Task]:
        """The tasks of a split from `start` up to, not including, `stop`; all of them without bounds."""
        return await asyncio.to_thread(self._tasks.tasks, split, start, stop)

    async def close(self) -> None:
        """End the session; the server discards its incident."""
        self._socket, self._protocol.open = None, False
        await self._exit_stack.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self.close()

    async def _drive(self, flow: ProtocolFlow[Parsed]) -> Parsed:
        answer: str | ConnectionDropped | None = None
        while not isinstance(command := resume(flow, answer), Done):
            answer = await self._perform(command)
        return command.result

    async def _perform(self, command: ProtocolCommand) -> str | ConnectionDropped:
        if isinstance(command, Backoff):
            await asyncio.sleep(command.seconds)
            return ""
        try:
            if isinstance(command, OpenSocket):
                await self.close()
                opening = connect_async(self._protocol.socket_url, **self._settings())
                self._socket = await self._exit_stack.enter_async_context(opening)
                return ""
            assert self._socket is not None
            with suppress(ConnectionClosed):  # what the server sent before it closed can still be read
                await self._socket.send(command.text)
            return str(await asyncio.wait_for(self._socket.recv(), self._protocol.timeout))
        except TimeoutError as error:
            await self.close()
            raise _timed_out(self._protocol) from error
        except (ConnectionClosed, InvalidHandshake, OSError) as error:
            return _dropped(error, self._protocol.url)


def fetch(url: str, body: Mapping[str, object] | None, timeout: float, headers: Mapping[str, str] | None = None) -> Any:
    """The answer of an HTTP route of the server; errors are those of `Client`."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return parse_json(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            raise RequestRefused(_detail(error, url), str(error.code)) from error
    except TimeoutError as error:
        raise ServerTimeout(f"{url} gave no answer within {timeout:g} s") from error
    except (OSError, ValueError) as error:
        raise ServerUnreachable(f"{url}: {getattr(error, 'reason', error)}") from error


def _detail(error: urllib.error.HTTPError, url: str) -> str:
    try:
        return str(parse_json_object(error.read())["detail"])
    except (ValueError, KeyError):
        return f"{url}: {error}"


def authorization(token: str | None) -> dict[str, str]:
    known = token or os.environ.get(TOKEN_VARIABLE)
    return {"Authorization": f"Bearer {known}"} if known else {}


def _timed_out(protocol: ClientProtocol) -> ServerTimeout:
    return ServerTimeout(
        f"{protocol.url} gave no answer within {protocol.timeout:g} s; the next call resumes the episode on a new "
        "socket, and timeout= sets a longer limit"
    )


def _dropped(error: Exception, url: str) -> ConnectionDropped:
    """The reason to try again; a `ServerUnreachable` where no attempt can work."""
    if isinstance(error, InvalidStatus) and error.response.status_code in REFUSED:
        with suppress(ValueError, KeyError, TypeError):
            raise ServerUnreachable(f"{url}: {json.loads(error.response.body or b'')['detail']}") from error
    if isinstance(error, InvalidStatus) and error.response.status_code in (403, 404):
        raise ServerUnreachable(
            f"no environment at {url}; a server of all of them has each under its name, as {url}/fleet"
        ) from error
    return ConnectionDropped(str(error) or type(error).__name__)
