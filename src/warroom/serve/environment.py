"""Warroom's incidents as an OpenEnv environment: one instance per session, one incident at a time."""

import json
import logging
from asyncio import get_running_loop
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import escape
from typing import Any, TypeVar
from uuid import uuid4

import warroom
from warroom.core.errors import NotInstalled, quote_input
from warroom.envs import environments
from warroom.episode import trajectory_hash
from warroom.serve import tasks
from warroom.serve.openenv_server import Environment, EnvironmentMetadata
from warroom.serve.reset_request import BadRequest, ResetRequest, parse_reset_request
from warroom.serve.table import Table, View
from warroom.serve.wire import DebugObservation, WarroomAction, WarroomObservation, WarroomState

Result = TypeVar("Result")
LONGEST_CALL = 50_000
"""Characters of a call as JSON; a longer one is refused and only its size is kept."""
SHORT = 100
"""Characters of an argument, and number of arguments, that cannot make a call too long."""
LONGEST_NAME = 100
"""Characters of a tool's name that reach the record."""
LONGEST_ID = 255
"""Characters of an episode's id."""
_log = logging.getLogger("warroom.serve")


class InvalidArguments(str):
    """What stands in the record for arguments that are none; the environment quotes it as it is."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class ServerConfig:
    """What all sessions of one environment on a server have in common."""

    env: str
    team: str = "expert"
    """Who plays beside a client that names no teammates."""
    debug_truth: bool = False
    background: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "warroom-aside"))
    """Where slow incidents are built and played, so that other sessions do not wait for them. One thread: models are
    not made for two callers at once."""

    @property
    def observation(self) -> type[WarroomObservation]:
        """The class of what clients are told."""
        return DebugObservation if self.debug_truth else WarroomObservation


class IncidentEnvironment(Environment[WarroomAction, WarroomObservation, WarroomState]):
    """The incidents of one environment, one after the other. Nothing is shared between instances but the desk.

    Steps run on the server's own loop: they take well under a millisecond, and a thread for each session would cost
    more than they do.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_SINGLE_THREAD_EXECUTOR = True  # one thread makes all instances, in place of a thread for each

    def __init__(self, server_config: ServerConfig) -> None:
        super().__init__()
        self.server_config = server_config
        self._table: Table | None = None
        self._request: ResetRequest | None = None
        self._episode_id: str | None = None
        self._episodes = self._steps = 0
        self._score = 0.0
        self._met: set[str] = set()

    # -- play ---------------------------------------------------------------------------------------

    def reset(self, /, seed: int | None = None, episode_id: str | None = None, **options: Any) -> WarroomObservation:
        """Begin an incident. Without a seed a session plays incidents 0, 1, 2, ... of what it asks for."""
        request = self._parse_request(seed, episode_id, options)
        return self._begin_episode(request, episode_id, _hiding_internal_errors(request.table))

    async def reset_async(
        self, /, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> WarroomObservation:
        """The same without keeping other sessions waiting."""
        request = self._parse_request(seed, episode_id, options)
        return self._begin_episode(request, episode_id, await self._run_in_background(request.is_slow, request.table))

    def step(self, action: WarroomAction, timeout_s: float | None = None, **more: Any) -> WarroomObservation:
        """Play one call of the acting seat; after the end it changes nothing and is answered so."""
        table = self._require_session()
        self._steps += 1
        return self._observation(_hiding_internal_errors(lambda: _play_action(table, action)))

    async def step_async(
        self, action: WarroomAction, timeout_s: float | None = None, **more: Any
    ) -> WarroomObservation:
        """The same without keeping other sessions waiting."""
        table = self._require_session()
        self._steps += 1
        assert self._request is not None
        return self._observation(
            await self._run_in_background(self._request.has_model_teammates, lambda: _play_action(table, action))
        )

    @property
    def state(self) -> WarroomState:
        """Where the episode stands."""
        if self._table is None:
            return WarroomState(env=self.server_config.env)
        env = self._table.session.env
        return WarroomState(
            episode_id=self._episode_id,
            step_count=self._steps,
            env=self.server_config.env,
            seat=self._table.view.seat,
            seats=list(self._table.session.seats),
            turn=env.turn,
            budget=env.budget,
            done=env.done,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """What the environment is, for people and catalogues."""
        summary = environments()[self.server_config.env].summary
        marked = ". This server tells the truth for debugging: nothing played here is a result"
        return EnvironmentMetadata(
            name=self.server_config.env,
            description=summary + (marked if self.server_config.debug_truth else ""),
            version=warroom.__version__,
            author="Warroom",
        )

    def render_web(self, observation: dict[str, Any]) -> str:
        """The whole page, for the interface that OpenEnv shows at `/web` where it is asked to."""
        return f"<pre style='white-space: pre-wrap'>{escape(str(observation.get('text', '')))}</pre>"

    # -- tasks --------------------------------------------------------------------------------------

    def list_splits(self) -> list[dict[str, str]]:
        """The splits that tasks are listed for."""
        return tasks.splits()

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """All tasks of a split."""
        return self.get_task_range(split)

    def num_tasks(self, split: str) -> int:
        """How many tasks a split has."""
        return len(_as_bad_request(lambda: tasks.incidents(self.server_config.env, split)))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """One task; an index that there is not is an `IndexError`."""
        return _as_bad_request(lambda: tasks.task(self.server_config.env, split, index))

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """The tasks from `start` up to, not including, `stop`; bounds as in slices."""
        indices = range(self.num_tasks(split))[start:stop]
        return [self.get_task(split, index) for index in indices]

    # -- within -------------------------------------------------------------------------------------

    async def _run_in_background(self, is_slow: bool, work: Callable[[], Result]) -> Result:
        if not is_slow:
            return _hiding_internal_errors(work)
        return await get_running_loop().run_in_executor(self.server_config.background, _hiding_internal_errors, work)

    def _parse_request(self, seed: object, episode_id: object, options: dict[str, Any]) -> ResetRequest:
        if episode_id is not None and (not isinstance(episode_id, str) or len(episode_id) > LONGEST_ID):
            raise BadRequest(
                f"episode_id must be a text of at most {LONGEST_ID} characters, got {quote_input(episode_id)}"
            )
        counted = self._episodes if seed is None and "index" not in options else seed
        return _as_bad_request(
            lambda: parse_reset_request(
                self.server_config.env, counted, options, self.server_config.team, self.server_config.debug_truth
            )
        )

    def _begin_episode(self, request: ResetRequest, episode_id: str | None, table: Table) -> WarroomObservation:
        self._request, self._table = request, table
        self._episode_id = episode_id if episode_id is not None else uuid4().hex
        self._episodes, self._steps, self._score, self._met = self._episodes + 1, 0, 0.0, set()
        observation = self._observation(table.view)
        observation.reward = None
        return observation

    def _require_session(self) -> Table:
        if self._table is None:
            raise BadRequest("no incident is open here: reset first, on the same socket (/ws) that the calls come by")
        return self._table

    def _observation(self, view: View) -> WarroomObservation:
        assert self._table is not None
        table, env = self._table, self._table.session.env
        fields: dict[str, Any] = {"tools": [] if view.seat in self._met else list(table.tools(view.seat))}
        self._met.add(view.seat)
        if view.done:
            fields |= {
                "score": env.score(),
                "points": env.points(),
                "outcome": env.outcome(),
                "trajectory_hash": trajectory_hash(tuple(table.session.steps)),
            }
        if self.server_config.debug_truth:
            fields["truth"] = {"scenario": env.scenario, "tier": env.tier, "seed": env.seed, **env.truth()}
        return self.server_config.observation(
            done=view.done,
            reward=self._reward(),
            seat=view.seat,
            text=_encodable(view.text),
            turn=env.turn,
            budget=env.budget,
            refused=view.refused,
            **fields,
        )

    def _reward(self) -> float:
        """What the score has changed since it was last paid; by default nothing is paid before the end."""
        assert self._table is not None and self._request is not None
        env, before = self._table.session.env, self._score
        if not (env.done or (self._request.dense and self._steps)):
            return 0.0
        self._score = env.score()
        return self._score - before


def _play_action(table: Table, action: WarroomAction) -> View:
    """Play an action, however odd it is."""
    name, arguments = action.tool, {} if action.arguments is None else action.arguments
    size = _size(name, arguments, action.model_extra)
    if size > LONGEST_CALL:
        arguments = InvalidArguments(f"{size} characters of JSON; at most {LONGEST_CALL} are allowed")
    elif action.model_extra:
        strange = ", ".join(map(quote_input, action.model_extra))
        arguments = InvalidArguments(f"{strange[:LONGEST_NAME]} beside tool and arguments")
    elif not isinstance(arguments, dict):
        arguments = InvalidArguments(quote_input(arguments))
    return table.call(name[:LONGEST_NAME] if isinstance(name, str) else quote_input(name), arguments)


def _size(*parts: Any) -> int:
    """Characters of a call as JSON; of an ordinary short one, 0 is near enough."""
    name, arguments, extra = parts
    short = type(name) is str and len(name) < SHORT and not extra and type(arguments) is dict and len(arguments) < SHORT
    if short and all(type(value) is str and len(value) < SHORT for value in arguments.values()):
        return 0
    return len(json.dumps(parts))


def _as_bad_request(read: Callable[[], Result]) -> Result:
    """What a client asked wrongly is its own mistake, and is told."""
    try:
        return read()
    except (ValueError, NotInstalled) as error:
        raise error if isinstance(error, BadRequest) else BadRequest(str(error)) from error


def _hiding_internal_errors(work: Callable[[], Result]) -> Result:
    """Our own defects are told to whoever serves, never to the client: their words may hold the truth."""
    try:
        return work()
    except BadRequest:
        raise
    except Exception:
        _log.exception("a defect of Warroom at a client's call")
        raise RuntimeError("the server failed at this call, which is a defect of ours: its log says more") from None


def _encodable(text: str) -> str:
    """Half a character, as an agent may send one, is not sent back: no JSON can carry it."""
    return text.encode("utf-8", "replace").decode("utf-8")
