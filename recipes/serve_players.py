"""Servers in processes of their own and the players that load them, for `serve_load.py` and its test."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from openenv.core.generic_client import GenericEnvClient
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from warroom.chat import Chat
from warroom.envs import suite
from warroom.policies import policy_set
from warroom.serve.client_protocol import LEAN

HERE = Path(__file__).parent
WARROOM = (sys.executable, "-m", "warroom", "serve", "--port", "0")
ECHO = (sys.executable, str(HERE / "serve_echo.py"))
PATIENCE = 120.0
"""Seconds after which an answer that has not come counts as an error."""


# -- servers ----------------------------------------------------------------------------------------


@dataclass
class Server:
    """A server in a process, its workers counted in."""

    url: str
    process: psutil.Popen

    def workers(self) -> list[psutil.Process]:
        """The processes that answer: the children of one that has any, or itself."""
        children = [child for child in self.process.children() if "spawn_main" in " ".join(child.cmdline())]
        return children or [self.process]

    def cpu(self) -> float:
        """Seconds of a core spent so far."""
        times = [worker.cpu_times() for worker in self.workers()]
        return sum([float(one.user + one.system) for one in times])

    def memory(self) -> float:
        """MB resident."""
        return float(sum(worker.memory_info().rss for worker in self.workers())) / 1e6

    def standing(self) -> dict[str, int]:
        """Threads and open files."""
        workers = self.workers()
        return {"threads": sum(w.num_threads() for w in workers), "files": sum(w.num_fds() for w in workers)}


@contextmanager
def served(*command: str) -> Iterator[Server]:
    """A server that says its address on its first line of errors, until the block ends."""
    process = psutil.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        assert " at http" in line, line
        server = Server(line.rpartition(" at ")[2].partition(";")[0], process)
        yield server
    finally:
        for child in process.children(recursive=True):
            child.kill()
        process.kill()
        process.wait()
        complaints = process.stderr.read()
        process.stderr.close()
        if "Traceback" in complaints:
            print(f"the server complained:\n{complaints[-3000:]}")


# -- what is played ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Script:
    """An incident as the expert plays it: what is sent, and the page that must come back."""

    messages: tuple[dict[str, Any], ...]
    pages: tuple[str, ...]


def script(env: str, number: int, seat: str = "") -> Script:
    """The incident of a number: of all seats, or of one beside experts."""
    spec, expert = f"{suite(env)[number % len(suite(env))]}@medium#dev:{number}", policy_set(env, "expert")
    chat = Chat(spec, seats=[seat] if seat else [], teammates=expert if seat else None)
    players = {name: expert.seat(chat.session.env, name) for name in chat.session.seats}
    chosen = {"spec": spec, **({"seats": seat} if seat else {})}
    messages, pages = [{"type": "reset", "data": chosen}], [chat.text]
    while not chat.done:
        call = players[chat.seat].act(chat.session.observe())
        messages.append({"type": "step", "data": {"tool": call.name, "arguments": dict(call.arguments)}})
        pages.append(chat.call(call.name, call.arguments).text)
    return Script(tuple(messages), tuple(pages))


def scripts(env: str, many: int, seat: str = "") -> list[Script]:
    """Different incidents, so that sessions that are mixed up are noticed."""
    return [script(env, number, seat) for number in range(many)]


# -- players ----------------------------------------------------------------------------------------


@dataclass
class ObservedLaws:
    """What a player met."""

    steps: int = 0
    resets: int = 0
    waits: list[float] = field(default_factory=list)
    """Seconds that each call took."""
    strange: int = 0
    """Answers that are not those of the player's own incident."""


def opened(url: str, *protocols: str) -> Any:
    """A socket to an environment."""
    address, offered = url.replace("http", "ws", 1) + "/ws", [Subprotocol(name) for name in protocols] or None
    return connect(
        address, compression=None, ping_interval=None, open_timeout=PATIENCE, max_size=None, subprotocols=offered
    )


async def asked(line: ClientConnection, message: dict[str, Any]) -> Any:
    """The answer to a message."""
    await line.send(json.dumps(message))
    return json.loads(await asyncio.wait_for(line.recv(), PATIENCE))


class Lean:
    """The least that a client can be: a socket and JSON."""

    def __init__(self, url: str) -> None:
        self.opening = opened(url)

    async def __aenter__(self) -> "Lean":
        self.line = await self.opening
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self.line.close()

    async def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """The observation."""
        answer = await asked(self.line, message)
        assert answer["type"] == "observation", answer
        observation: dict[str, Any] = answer["data"]["observation"]
        return observation


class LeanProtocol(Lean):
    """The same with the lean protocol."""

    def __init__(self, url: str) -> None:
        self.opening = opened(url, LEAN)

    async def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """The observation."""
        answer: dict[str, Any] = await asked(self.line, message)
        assert "type" not in answer, answer
        return answer


class OpenEnvs:
    """OpenEnv's own client, which its trainers use."""

    def __init__(self, url: str) -> None:
        self.client = GenericEnvClient(base_url=url)

    async def __aenter__(self) -> "OpenEnvs":
        await self.client.__aenter__()
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self.client.__aexit__(None, None, None)

    async def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """The observation."""
        data = message["data"]
        result = await (self.client.reset(**data) if message["type"] == "reset" else self.client.step(data))
        observation: dict[str, Any] = result.observation
        return observation


CLIENTS = {"lean": Lean, "openenv": OpenEnvs}


async def play(client: Any, script: Script, tally: ObservedLaws, strict: bool, until: float) -> None:
    """Play an incident to its end, or to the end of the time."""
    for message, page in zip(script.messages, script.pages, strict=True):
        begun = time.perf_counter()
        told = await client.answer(message)
        now = time.perf_counter()
        tally.strange += strict and told["text"] != page
        if now > until:
            return
        if message["type"] == "step":
            tally.steps += 1
            tally.waits.append(now - begun)
        else:
            tally.resets += 1


async def crowd(
    url: str, parts: list[Script], sessions: int, seconds: float, kind: Any, strict: bool
) -> list[ObservedLaws]:
    """Sessions that all play for some seconds, once all of them are open."""
    tallies = [ObservedLaws() for _ in range(sessions)]
    clients = [kind(url) for _ in tallies]
    for client in clients:
        await client.__aenter__()
        await client.answer(parts[0].messages[0])

    until = time.perf_counter() + seconds

    async def one(number: int) -> None:
        turn = number
        while time.perf_counter() < until:
            await play(clients[number], parts[turn % len(parts)], tallies[number], strict, until)
            turn += 1

    await asyncio.gather(*(one(number) for number in range(sessions)))
    for client in clients:
        await client.__aexit__(None, None, None)
    return tallies


def share(values: list[float], of: float) -> float:
    """A quantile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(of * len(ordered)))] if ordered else float("nan")
