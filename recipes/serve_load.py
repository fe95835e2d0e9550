"""How fast, how many, and what breaks: the figures of a server under load. Minutes on two cores; --quick: seconds.

python recipes/serve_load.py [--quick] [speed] [many] [churn] [kills]

speed   32 sessions beside a bare echo environment in the same run, turn by turn
many    2,000 sessions open at once on one process, each playing: latencies, fairness, memory
churn   10,000 sessions opened and closed, a third of them without a goodbye: what is left of them
kills   a client killed in the middle, one of two workers killed in the middle
"""

import asyncio
import os
import resource
import statistics
import sys
import time
from contextlib import ExitStack, suppress
from typing import Any

import psutil
from serve_players import (
    CLIENTS,
    ECHO,
    WARROOM,
    Lean,
    ObservedLaws,
    Script,
    Server,
    asked,
    crowd,
    opened,
    play,
    scripts,
    served,
    share,
)
from websockets.exceptions import ConnectionClosed

from warroom.core.errors import quote_input
from warroom.serve.client import AsyncClient

GAMES = {"fleet, four seats": ("fleet", ""), "fleet, one seat beside experts": ("fleet", "sre"), "logs": ("logs", ""),
         "tickets": ("tickets", "")}  # fmt: skip
broken: list[str] = []


def hold(true: bool, bar: str) -> None:
    """Say whether a bar is met."""
    print(f"  {'met   ' if true else 'BROKEN'} {bar}", flush=True)
    if not true:
        broken.append(bar)


# -- speed ------------------------------------------------------------------------------------------


def speed(quick: bool) -> None:
    """Steps a second beside a bare echo environment; each round is of both, so that what else runs hits both."""
    rounds, seconds, many = (1, 1.0, 4) if quick else (5, 2.5, 16)
    games = dict(list(GAMES.items())[:1]) if quick else GAMES
    with ExitStack() as stack:
        bare = {
            kind: stack.enter_context(served(*ECHO, *way)) for kind, way in (("echo", ()), ("loop echo", ("loop",)))
        }
        ours = stack.enter_context(served(*WARROOM))
        for kind in ("lean",) if quick else CLIENTS:
            for game, (env, seat) in games.items():
                parts = scripts(env, many, seat)
                asyncio.run(warm(f"{ours.url}/{env}", parts))
                print(f"{game}, 32 sessions, {kind} client: steps/s, server's microseconds a step, p50 and p99 ms")
                found: dict[str, list[float]] = {}
                for _ in range(rounds):
                    for name, server in {**bare, "warroom": ours}.items():
                        url = f"{server.url}/{env}" if server is ours else server.url
                        found.setdefault(name, []).append(measured(name, server, url, parts, seconds, kind))
                for name in bare:
                    ratios = [mine / theirs for mine, theirs in zip(found["warroom"], found[name], strict=True)]
                    print(f"  {statistics.median(ratios):.0%} of {name} ({min(ratios):.0%} to {max(ratios):.0%})")


async def warm(url: str, parts: list[Script]) -> None:
    """Begin every incident once: what is made once and kept is no part of a figure."""
    async with Lean(url) as client:
        for part in parts:
            await client.answer(part.messages[0])


def measured(name: str, server: Server, url: str, parts: list[Script], seconds: float, kind: str) -> float:
    """Steps a second of one round."""
    before = server.cpu()
    tallies = asyncio.run(crowd(url, parts, 32, seconds, CLIENTS[kind], name == "warroom"))
    steps, waits = sum(tally.steps for tally in tallies), [wait for tally in tallies for wait in tally.waits]
    cost = (server.cpu() - before) / steps * 1e6
    print(f"  {name:10}{steps / seconds:7.0f}{cost:7.0f}{share(waits, 0.5) * 1e3:8.1f}{share(waits, 0.99) * 1e3:8.1f}")
    if name == "warroom" and any(tally.strange for tally in tallies):
        hold(False, "every answer is of the session's own incident")
    return steps / seconds


# -- many -------------------------------------------------------------------------------------------


def many(quick: bool) -> None:
    """Sessions that are all open at once, and all play."""
    sessions, seconds = (120, 1.5) if quick else (2000, 40.0)
    with served(*WARROOM) as server:
        asyncio.run(all_at_once(server, sessions, seconds, quick))


async def all_at_once(server: Server, sessions: int, seconds: float, quick: bool) -> None:
    envs = ("fleet", "logs") if quick else ("fleet", "logs", "tickets")
    parts = {env: scripts(env, 8 if quick else 24) for env in envs}
    for env in envs:
        await warm(f"{server.url}/{env}", parts[env])
    memory, begun = [server.memory()], time.perf_counter()
    seats = [envs[number % len(envs)] for number in range(sessions)]
    clients = [Lean(f"{server.url}/{env}") for env in seats]
    for first in range(0, sessions, 50):
        await asyncio.gather(*(client.__aenter__() for client in clients[first : first + 50]))
    memory.append(server.memory())
    opening = time.perf_counter() - begun
    tallies = [ObservedLaws() for _ in clients]
    until = time.perf_counter() + seconds
    await asyncio.gather(*(play_on(clients[i], parts[env], tallies[i], i, until) for i, env in enumerate(seats)))
    memory.append(server.memory())
    report(tallies, memory, opening, seconds)
    await asyncio.gather(*(client.__aexit__() for client in clients))


async def play_on(client: Lean, parts: list[Script], tally: ObservedLaws, turn: int, until: float) -> None:
    while time.perf_counter() < until:
        await play(client, parts[turn % len(parts)], tally, True, until)
        turn += 1


def report(tallies: list[ObservedLaws], memory: list[float], opening: float, seconds: float) -> None:
    steps, waits = sorted(tally.steps for tally in tallies), [wait for tally in tallies for wait in tally.waits]
    even = sum(steps) ** 2 / (len(steps) * sum(step * step for step in steps) or 1)
    least, median, most = steps[0], steps[len(steps) // 2], steps[-1]
    opened_kb, playing_kb = ((value - memory[0]) / len(steps) * 1e3 for value in memory[1:])
    p50, p99, longest = (share(waits, of) for of in (0.5, 0.99, 1.0))
    each = f"least {least}, median {median}, most {most}; evenness (Jain) {even:.3f}"
    print(f"{len(steps)} sessions open at once, opened in {opening:.1f} s, then playing for {seconds:g} s")
    print(f"  {sum(steps) / seconds:.0f} steps/s; steps of a session: {each}")
    print(f"  seconds a call: p50 {p50:.2f}, p99 {p99:.2f}, longest {longest:.2f}")
    print(f"  KB a session: {opened_kb:.0f} open, {playing_kb:.0f} playing; the process has {memory[2]:.0f} MB")
    hold(sum(tally.resets > 0 for tally in tallies) == len(tallies), "every session began, without an error")
    hold(steps[0] > 0, "none starved")
    hold(not any(tally.strange for tally in tallies), "every answer is of the session's own incident")


# -- churn ------------------------------------------------------------------------------------------


def churn(quick: bool) -> None:
    """Sessions that come and go: whether anything of them stays."""
    sessions, room = (400, 64) if quick else (10_000, 64)
    with served(*WARROOM, "--max-sessions", str(room)) as server:
        asyncio.run(coming_and_going(server, sessions, room))


async def coming_and_going(server: Server, sessions: int, room: int) -> None:
    parts = scripts("logs", 16)
    await some(server, parts, range(room * 4))  # warm
    before, memory = server.standing(), []
    slices = [range(first, first + sessions // 10) for first in range(0, sessions, sessions // 10)]
    begun = time.perf_counter()
    for part in slices:
        await some(server, parts, part)
        memory.append(server.memory())
    took = time.perf_counter() - begun
    half = memory[len(memory) // 2 :]
    slope = statistics.linear_regression(range(len(half)), half).slope * 1e6 / len(slices[0])
    print(f"{sessions} sessions opened and closed in {took:.0f} s; MB after each tenth: "
          + " ".join(f"{value:.1f}" for value in memory))  # fmt: skip
    after = await settled(server, before["files"])
    print(f"  before {before}, after {after}; {slope:+.0f} bytes a session over the second half")
    hold(after["files"] <= before["files"] + 2 and after["threads"] <= before["threads"] + 2, "no thread or file stays")
    hold(sessions < 5_000 or slope < 500, "less than 500 bytes of a session stay")
    clients = [Lean(f"{server.url}/logs") for _ in range(room)]
    for client in clients:
        await client.__aenter__()
        await client.answer(parts[0].messages[0])
    hold(True, f"all {room} places are free again, so no session stays")
    for client in clients:
        await client.__aexit__()


async def some(server: Server, parts: list[Script], numbers: range) -> None:
    """Play a few sessions side by side, never more than there is room for."""
    room = asyncio.Semaphore(24)

    async def one(number: int) -> None:
        async with room:
            await came_and_went(f"{server.url}/logs", parts[number % len(parts)], number)

    await asyncio.gather(*(one(number) for number in numbers))


async def came_and_went(url: str, part: Script, number: int) -> None:
    line = await opened(url)
    for message, page in list(zip(part.messages, part.pages, strict=True))[:3]:
        answer = await asked(line, message)
        assert answer["data"]["observation"]["text"] == page, answer
    if number % 3 == 0:  # no goodbye, and a call under way
        await line.send('{"type":"step","data":{"tool":"resolve"}}')
        line.transport.abort()
    elif number % 3 == 1:
        await line.send('{"type":"close"}')
        with suppress(ConnectionClosed):
            await line.recv()
    await line.close()


async def settled(server: Server, files: int) -> dict[str, int]:
    """How the server stands, once it has noticed who is gone."""
    for _ in range(100):
        if server.standing()["files"] <= files:
            break
        await asyncio.sleep(0.1)
    return server.standing()


# -- kills ------------------------------------------------------------------------------------------


def kills(quick: bool) -> None:
    """Whoever dies, the others play on."""
    with served(*WARROOM, "--env", "logs") as server:
        asyncio.run(killed_client(server, 10 if quick else 100))
    with served(*WARROOM, "--env", "logs", "--workers", "2") as server:
        asyncio.run(killed_worker(server, 8 if quick else 32))


async def killed_client(server: Server, sessions: int) -> None:
    """A process full of sessions is killed in the middle of its calls."""
    parts = scripts("logs", 8)
    async with Lean(server.url) as beside:
        await beside.answer(parts[1].messages[0])
        before = server.standing()
        victim = psutil.Popen([sys.executable, __file__, "--victim", server.url, str(sessions)], stdout=-1, text=True)
        assert victim.stdout.readline() == "playing\n"
        held = server.standing()["files"] - before["files"]
        tally = ObservedLaws()
        await play(beside, parts[1], tally, True, time.perf_counter() + PLENTY)
        victim.kill()
        victim.wait()
        victim.stdout.close()
        after = await settled(server, before["files"])
        await play(beside, parts[2], tally, True, time.perf_counter() + PLENTY)
    print(f"a client with {sessions} sessions killed while it played: it held {held} files; {after}, before {before}")
    hold(held >= sessions and after["files"] <= before["files"] + 1, "its sessions are gone")
    hold(not tally.strange and tally.resets == 2, "the session beside it played on, undisturbed")


PLENTY = 600.0


def victim(url: str, sessions: int) -> None:
    """Play until killed."""

    async def play_forever() -> None:
        parts = scripts("logs", 4)
        clients = [Lean(url) for _ in range(sessions)]
        for client in clients:
            await client.__aenter__()
            await client.answer(parts[0].messages[0])
        print("playing", flush=True)
        until = time.perf_counter() + PLENTY
        await asyncio.gather(*(play_on(client, parts, ObservedLaws(), 0, until) for client in clients))

    asyncio.run(play_forever())


async def killed_worker(server: Server, sessions: int) -> None:
    """One of two workers is killed in the middle: its clients come back, the other's notice nothing."""
    parts = scripts("logs", 8)
    await all_awake(server)
    clients = [AsyncClient(server.url, attempts=20) for _ in range(sessions)]
    middle, go_on = asyncio.Semaphore(0), asyncio.Event()

    async def one(client: AsyncClient, part: Script) -> bool:
        same = (await client.reset(**part.messages[0]["data"])).text == part.pages[0]
        for number, message in enumerate(part.messages[1:], 1):
            if number == 3:
                middle.release()
                await go_on.wait()
            same &= (await client.send(message["data"])).text == part.pages[number]
        return same

    games = [asyncio.create_task(one(client, parts[i % len(parts)])) for i, client in enumerate(clients)]
    for _ in clients:
        await middle.acquire()
    busiest = max(server.workers(), key=sockets)
    held, raw = sockets(busiest), [await opened(server.url) for _ in range(sessions)]
    busiest.kill()
    go_on.set()
    same = await asyncio.gather(*games)
    back = [client.reconnections for client in clients]
    lost = [await fate(line) for line in raw]
    for client in clients:
        await client.close()
    print(f"one of two workers killed under {sessions} sessions: {sum(map(bool, back))} came back on another worker, "
          f"{back.count(0)} noticed nothing; bare sockets: {sorted(set(lost))}")  # fmt: skip
    hold(all(same), "every incident went on and ended as if nothing had happened")
    hold(sum(map(bool, back)) == held > 0, "who had the killed worker came back, and nobody else had to")


def sockets(worker: psutil.Process) -> int:
    """How many clients a worker has."""
    return sum(found.status == psutil.CONN_ESTABLISHED for found in worker.net_connections("tcp"))


async def all_awake(server: Server) -> None:
    """Come back when every worker takes sockets."""
    lines: list[Any] = []
    while not all(sockets(worker) for worker in server.workers()):
        assert len(lines) < 300, "a worker takes no sockets"
        lines.append(await opened(server.url))
        await asyncio.sleep(0.1)
    for line in lines:
        await line.close()


async def fate(line: Any) -> str:
    """What a socket without a client of ours is told."""
    try:
        return str((await asked(line, {"type": "state"}))["type"])
    except ConnectionClosed as error:
        return quote_input(str(error))
    finally:
        await line.close()


# -- all of it --------------------------------------------------------------------------------------

PARTS = {"speed": speed, "many": many, "churn": churn, "kills": kills}


def main() -> None:
    if sys.argv[1:2] == ["--victim"]:
        victim(sys.argv[2], int(sys.argv[3]))
        return
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else 65_536, hard))
    quick, wanted = "--quick" in sys.argv, [word for word in sys.argv[1:] if word != "--quick"]
    for name in wanted or PARTS:
        print(f"== {name} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)", flush=True)
        PARTS[name](quick)
    if broken:
        raise SystemExit(f"{len(broken)} bars are broken")


if __name__ == "__main__":
    main()
