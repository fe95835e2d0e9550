"""The one way from seats to servers: concurrency, retries, caps, the ledger and the recording, for all of a run.

Requests live in an event loop of their own thread, so that a slow answer delays nobody else, and a command that stops
does not wait for any.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from warroom.core.errors import Stopped, Unplayed
from warroom.core.rng import stream
from warroom.policies.llm.budget import Budget
from warroom.policies.llm.ledger import Ledger, Tokens
from warroom.policies.llm.options import DEFAULT_URL, URL, Api, key_for
from warroom.policies.llm.recording import Recording, Replay
from warroom.policies.llm.requests import DENIED, LOST, OVERFLOW, RETRIED, Answer, Decision, Failed, Overflow, Request

if TYPE_CHECKING:
    from warroom.policies.llm.seat import Model
    from warroom.policies.llm.server import Server

Result = TypeVar("Result")
LONGEST_WAIT = 60.0
"""Seconds between two tries that nobody asked for."""
MOST_PATIENCE = 600.0
"""Seconds that a server may ask for; the episode is given up if it asks for more."""
GONE = 3
"""Requests that fail for good in a row, none answered between them, after which a server counts as gone."""


class Exchange:
    """What is between the seats of a run and one server, or a recording. Use it as a context manager."""

    def __init__(self, api: Api, ledger: Ledger | None = None, resume: bool = False) -> None:
        """With `resume` a recording is continued. A `ValueError` or `MissingExtra` says what is missing."""
        self.api, self.source = _source(api)
        self.ledger = ledger or Ledger()
        self.budget = Budget(api.caps, self.ledger)
        self.decisions: dict[str, Decision] = {}
        """How each model is asked, by its name as a policy."""
        self._recording = Recording(api.record, self.api.play, resume) if api.record is not None else None
        self._models: dict[str, Model] = {}
        self._slots, self._failures = asyncio.Semaphore(api.concurrency), 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="llm", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.run(self._end()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.ledger.close()
        if self._recording is not None:
            self._recording.close()

    @property
    def versions(self) -> dict[str, str]:
        """The library that asks; none in a replay."""
        from importlib.metadata import version

        return {} if self.api.replay is not None else {"openai": version("openai")}

    def model(self, name: str) -> "Model":
        """The model of a policy's name, one for all its seats."""
        from warroom.policies.llm.seat import Model

        if name not in self._models:
            self._models[name] = Model(name, self)
        return self._models[name]

    def keep(self, folder: Path) -> None:
        """Write the ledger into a run folder from now on."""

        async def keep() -> None:
            self.ledger.keep(folder)

        self.run(keep()).result()

    def run(self, work: Coroutine[Any, Any, Result]) -> "Future[Result]":
        """Do something where requests live."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def complete(self, request: Request) -> Answer:
        """The answer to a request.

        `Overflow` if the conversation is too long for the model, `Unplayed` if infrastructure failed for good,
        `Stopped` if nothing more may be sent at all.
        """
        attempt = 0
        while True:
            async with self._slots:
                ended = await self._attempt(request, attempt)
            if isinstance(ended, Answer):
                return ended
            pause = self._pause(request, attempt, ended)
            if pause is None:
                raise self._given_up(request, attempt, ended)
            attempt += 1
            await asyncio.sleep(pause)

    async def _attempt(self, request: Request, attempt: int) -> Answer | Failed:
        """Ask once, within the caps."""
        number = await self.budget.reserve(request.place, request.number, attempt, request.worst)
        left, limit = self.budget.seconds_left, self.api.request_timeout
        try:
            async with asyncio.timeout(limit if left is None else min(limit, left)):
                answer = await self.source.send(request)
        except TimeoutError:
            failed = Failed(LOST, f"it gave no answer in {limit:g} seconds")
        except Failed as error:
            failed = error
        except BaseException:  # cancelled: the answer may be on its way, and paid for
            self.ledger.settle(number, LOST, request.worst, why="interrupted")
            raise
        else:
            await self._answered(request, number, answer)
            return answer
        counted = request.worst if failed.kind == LOST else Tokens()
        await self.budget.settle(number, failed.kind, counted, why=str(failed))
        return failed

    async def _answered(self, request: Request, number: int, answer: Answer) -> None:
        self._failures = 0
        if self._recording is not None:
            self._recording.answered(request, answer)
        # A server that does not count is taken at the worst.
        tokens, more = (answer.tokens, {}) if answer.tokens else (request.worst, {"uncounted": True})
        seconds = round(answer.seconds, 4)
        await self.budget.settle(number, "answered", tokens, seconds=seconds, model=answer.model, **more)

    def _pause(self, request: Request, attempt: int, failed: Failed) -> float | None:
        """Seconds before the next try; None if there is none."""
        if failed.kind not in RETRIED or attempt >= self.api.retries or (failed.wait or 0.0) > MOST_PATIENCE:
            return None
        # Drawn, so that seats that were refused together do not come back together; by name, so that it is the same.
        share = 0.5 + stream(request.place.seed, "wait", *map(str, request.place), request.number, attempt).random() / 2
        wait = failed.wait if failed.wait is not None else share * min(LONGEST_WAIT, self.api.first_wait * 2**attempt)
        left = self.budget.seconds_left
        return wait if left is None else max(0.0, min(wait, left))

    def _given_up(self, request: Request, attempt: int, failed: Failed) -> Exception:
        if self._recording is not None:
            self._recording.failed(request, failed)
        if failed.kind == OVERFLOW:
            return Overflow(str(failed))
        tries = f" ({attempt + 1} tries)" if attempt else ""
        told = f"{request.body['model']} at {self.api.base_url}: {failed}{tries}"
        if failed.kind == DENIED:
            told += "; is the key right, and the model's name?"
        self._failures += failed.kind in RETRIED
        stop = self.budget.closed or self.budget.late or self._hopeless(told, failed)
        if stop is not None:
            self.budget.closed = stop
            return Stopped(stop)
        self.ledger.note("unplayed", request.place, why=told)
        return Unplayed(told)

    def _hopeless(self, told: str, failed: Failed) -> str | None:
        """Why a run need not go on. Elsewhere, as on a page that is open for days, each request has its own fate."""
        if self.ledger.folder is None or self.api.replay is not None:
            return None
        if self._failures >= GONE:
            return f"{told}, as for {GONE} requests in a row: the server seems gone"
        return told if failed.kind == DENIED else None

    async def _end(self) -> None:
        tasks = asyncio.all_tasks(self._loop) - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.source.close()


def _source(api: Api) -> tuple[Api, "Server | Replay"]:
    """Where answers come from, and the options with its address in them."""
    if api.replay is not None:
        replay = Replay(api.replay)
        api = replace(api, base_url=api.base_url or replay.header["api"]["base_url"], retries=0)
        replay.check(api.play)
        return api, replay
    from warroom.policies.llm.server import Server

    url = (api.base_url or os.environ.get(URL) or DEFAULT_URL).rstrip("/")
    return replace(api, base_url=url), Server(url, key_for(url))
