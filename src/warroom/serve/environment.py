"""The environments as OpenEnv environments: one instance per session, one incident at a time."""

import json
import logging
from asyncio import get_running_loop
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple, TypeVar
from uuid import uuid4

import warroom
from warroom.chat import Answer, Chat
from warroom.core.env import Env
from warroom.core.errors import NotInstalled, quote_input
from warroom.core.messages import encodable
from warroom.core.types import JsonObject
from warroom.envs import env_spec
from warroom.episode import trajectory_hash
from warroom.reward import step_reward
from warroom.serve import tasks
from warroom.serve.openenv_server import Environment, EnvironmentMetadata
from warroom.serve.reset_request import OPEN, BadRequest, HoldOut, ResetRequest, parse_reset_request
from warroom.serve.wire import DebugObservation, WarroomAction, WarroomObservation, WarroomState

Result = TypeVar("Result")
MAX_CALL_LENGTH = 50_000
"""Characters of a call as JSON; a longer one is refused and only its size is kept."""
SHORT = 100
"""Characters of an argument, and number of arguments, that cannot make a call too long."""
MAX_NAME_LENGTH = 100
"""Characters of a tool's name that reach the record."""
_log = logging.getLogger("warroom.serve")


class InvalidArguments(str):
    """Stands in the record for arguments that cannot be read; the environment quotes it as it is."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class ServerConfig:
    """What all sessions of one environment on a server have in common."""

    env: str
    team: str = "expert"
    """Who plays beside a client that names no teammates."""
    debug_truth: bool = False
    hold_out: HoldOut = OPEN
    background: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "warroom-background"))
    """Where slow incidents are built and played, so that other sessions do not wait for them. One thread: models
    cannot serve two callers at once."""

    @property
    def observation_type(self) -> type[WarroomObservation]:
        """The class of what clients are sent."""
        return DebugObservation if self.debug_truth else WarroomObservation


class OpenEpisode(NamedTuple):
    """The incident that a session has open."""

    chat: Chat
    request: ResetRequest
    id: str

    @property
    def env(self) -> Env:
        """The environment proper."""
        return self.chat.session.env


class IncidentEnvironment(Environment[WarroomAction, WarroomObservation, WarroomState]):
    """The incidents of one environment, one after the other. Instances share nothing but the server's configuration.

    Steps run on the server's own event loop: they take well under a millisecond, and a thread for each session would
    cost more than they do.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_SINGLE_THREAD_EXECUTOR = True  # one thread makes all instances, in place of a thread for each

    def __init__(self, server_config: ServerConfig) -> None:
        super().__init__()
        self.server_config = server_config
        self._episode: OpenEpisode | None = None
        self._episodes = self._steps = 0
        self._rewarded = 0.0
        """The score that the calls so far were rewarded with."""
        self._seats_with_tools: set[str] = set()

    # -- play ---------------------------------------------------------------------------------------

    def reset(self, /, seed: int | None = None, episode_id: str | None = None, **options: object) -> WarroomObservation:
        """Begin an incident. Without a seed a session plays incidents 0, 1, 2, ... of what it asks for."""
        request = self._parse_request(seed, episode_id, options)
        return self._begin_episode(request, _hiding_internal_errors(request.open))

    async def reset_async(
        self, /, seed: int | None = None, episode_id: str | None = None, **options: object
    ) -> WarroomObservation:
        """The same without keeping other sessions waiting."""
        request = self._parse_request(seed, episode_id, options)
        return self._begin_episode(request, await self._run_in_background(request.is_slow, request.open))

    def step(self, action: WarroomAction, timeout_s: float | None = None, **more: object) -> WarroomObservation:
        """Play one call of the acting seat; after the end it changes nothing and is answered so."""
        chat = self._take_step().chat
        return self._answer_step(_hiding_internal_errors(lambda: _play_action(chat, action)))

    async def step_async(
        self, action: WarroomAction, timeout_s: float | None = None, **more: object
    ) -> WarroomObservation:
        """The same without keeping other sessions waiting."""
        chat, request, _ = self._take_step()
        is_slow = request.has_model_teammates
        return self._answer_step(await self._run_in_background(is_slow, lambda: _play_action(chat, action)))

    @property
    def state(self) -> WarroomState:
        """Where the episode stands."""
        if self._episode is None:
            return WarroomState(env=self.server_config.env)
        chat, env = self._episode.chat, self._episode.env
        return WarroomState(
            episode_id=self._episode.id,
            step_count=self._steps,
            env=self.server_config.env,
            seat=chat.seat,
            seats=list(chat.session.seats),
            turn=env.turn,
            budget=env.budget,
            done=env.done,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """What the environment is, for people and catalogues."""
        summary, config = env_spec(self.server_config.env).summary, self.server_config
        if config.debug_truth:
            summary += ". This server reveals the truth for debugging: nothing played here is a result"
        if config.hold_out.salt is not None:
            summary += f". Incidents are drawn under a salt; its SHA-256 is {config.hold_out.salt.commitment}"
        return EnvironmentMetadata(
            name=config.env,
            description=summary,
            version=warroom.__version__,
            author="Warroom",
        )

    def render_web(self, observation: JsonObject) -> str:
        """The whole page, for the interface that OpenEnv shows at `/web` where it is asked to."""
        return f"<pre style='white-space: pre-wrap'>{escape(str(observation.get('text', '')))}</pre>"

    # -- tasks --------------------------------------------------------------------------------------

    def list_splits(self) -> list[dict[str, str]]:
        """The splits that tasks are listed for."""
        return [split for split in tasks.splits() if self._deals(split["name"])]

    def list_tasks(self, split: str) -> list[dict[str, object]]:
        """All tasks of a split."""
        return self.get_task_range(split)

    def num_tasks(self, split: str) -> int:
        """How many tasks a split has."""
        return len(_as_bad_request(lambda: tasks.task_specs(self.server_config.env, self._dealt(split))))

    def get_task(self, split: str, index: int) -> dict[str, object]:
        """One task; an index beyond the last is an `IndexError`."""
        config = self.server_config
        return _as_bad_request(lambda: tasks.task(config.env, self._dealt(split), index, config.hold_out.salt))

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, object]]:
        """The tasks from `start` up to, not including, `stop`; bounds as in slices."""
        indices = range(self.num_tasks(split))[start:stop]
        return [self.get_task(split, index) for index in indices]

    # -- within -------------------------------------------------------------------------------------

    def _deals(self, split: str) -> bool:
        return self.server_config.hold_out.tasks_of in (None, split)

    def _dealt(self, split: str) -> str:
        """The split, if clients may have tasks of it."""
        if not self._deals(split):
            raise BadRequest(f"this server deals the tasks of {self.server_config.hold_out.tasks_of} alone")
        return split

    async def _run_in_background(self, is_slow: bool, work: Callable[[], Result]) -> Result:
        if not is_slow:
            return _hiding_internal_errors(work)
        return await get_running_loop().run_in_executor(self.server_config.background, _hiding_internal_errors, work)

    def _parse_request(self, seed: object, episode_id: object, options: dict[str, object]) -> ResetRequest:
        given = {"seed": seed, "episode_id": episode_id, **options}
        if seed is None and options.get("index") is None and options.get("spec") is None:
            given["seed" if self.server_config.hold_out.tasks_of is None else "index"] = self._episodes
        return _as_bad_request(
            lambda: parse_reset_request(
                self.server_config.env,
                given,
                default_teammates=self.server_config.team,
                allow_oracle=self.server_config.debug_truth,
                hold_out=self.server_config.hold_out,
            )
        )

    def _begin_episode(self, request: ResetRequest, chat: Chat) -> WarroomObservation:
        self._episode = OpenEpisode(chat, request, uuid4().hex if request.episode_id is None else request.episode_id)
        self._episodes, self._steps, self._rewarded = self._episodes + 1, 0, 0.0
        self._seats_with_tools = set()
        return self._observation(self._episode, Answer(chat.text, refused=False), None)

    def _take_step(self) -> OpenEpisode:
        if self._episode is None:
            raise BadRequest("no incident is open here: reset first, on the same socket (/ws) that the calls come by")
        self._steps += 1
        return self._episode

    def _answer_step(self, answer: Answer) -> WarroomObservation:
        assert self._episode is not None
        reward = step_reward(self._episode.env, self._rewarded, dense=self._episode.request.dense_rewards)
        if reward:
            self._rewarded = self._episode.env.score()
        return self._observation(self._episode, answer, reward)

    def _observation(self, episode: OpenEpisode, answer: Answer, reward: float | None) -> WarroomObservation:
        chat, env, seat = episode.chat, episode.env, episode.chat.seat
        tools = [] if seat in self._seats_with_tools else list(chat.conversations[seat].schemas)
        self._seats_with_tools.add(seat)
        ending = _ending(episode) if env.done else {}
        return self.server_config.observation_type(
            done=env.done,
            reward=reward,
            seat=seat,
            text=encodable(answer.text),
            turn=env.turn,
            budget=env.budget,
            refused=answer.refused,
            tools=tools,
            **ending,
            **(_debug_fields(env) if self.server_config.debug_truth else {}),
        )


def _ending(episode: OpenEpisode) -> JsonObject:
    """What is reported once an incident is over; its spec only to a client that named the scenario itself."""
    env = episode.env
    return {
        "score": env.score(),
        "points": env.points(),
        "outcome": env.outcome(),
        "trajectory_hash": trajectory_hash(episode.chat.session.steps),
        "spec": str(env.spec) if episode.request.named else "",
    }


def _debug_fields(env: Env) -> JsonObject:
    return {"truth": {"scenario": env.scenario, "tier": env.tier, "seed": env.seed, **env.truth()}}


def _play_action(chat: Chat, action: WarroomAction) -> Answer:
    """Play an action, whatever it holds."""
    name = action.tool[:MAX_NAME_LENGTH] if isinstance(action.tool, str) else quote_input(action.tool)
    return chat.call(name, _readable_arguments(action))


def _readable_arguments(action: WarroomAction) -> JsonObject | InvalidArguments:
    """The arguments, or why they cannot be read."""
    arguments = {} if action.arguments is None else action.arguments
    size = _size(action.tool, arguments, action.model_extra)
    if size > MAX_CALL_LENGTH:
        return InvalidArguments(f"{size} characters of JSON; at most {MAX_CALL_LENGTH} are allowed")
    if action.model_extra:
        unknown = ", ".join(map(quote_input, action.model_extra))
        return InvalidArguments(f"{unknown[:MAX_NAME_LENGTH]} beside tool and arguments")
    return arguments if isinstance(arguments, dict) else InvalidArguments(quote_input(arguments))


def _size(name: object, arguments: object, extra: object) -> int:
    """Characters of a call as JSON; of an ordinary short one, 0 is near enough."""
    is_short = type(name) is str and len(name) < SHORT and not extra
    if is_short and isinstance(arguments, dict) and len(arguments) < SHORT and all(map(_is_short, arguments.values())):
        return 0
    return len(json.dumps([name, arguments, extra]))


def _is_short(value: object) -> bool:
    return type(value) is str and len(value) < SHORT


def _as_bad_request(read: Callable[[], Result]) -> Result:
    """A client's own mistake goes back to it."""
    try:
        return read()
    except (ValueError, NotInstalled) as error:
        raise error if isinstance(error, BadRequest) else BadRequest(str(error)) from error


def _hiding_internal_errors(work: Callable[[], Result]) -> Result:
    """Defects of Warroom go to the server's log, never to the client: their messages may hold the truth."""
    try:
        return work()
    except BadRequest:
        raise
    except Exception:
        _log.exception("a defect of Warroom at a client's call")
        raise RuntimeError("the server failed at this call, which is a defect of Warroom: its log says more") from None
