"""The barest OpenEnv environment there is, to hold a server's speed against: whatever is called, it says the same.

python recipes/serve_echo.py [loop]      says its address, then serves until it is ended

It steps in a thread for each session, as OpenEnv's template has it; with `loop` on the server's own loop, as Warroom.
"""

import socket
import sys
from typing import Any

import uvicorn
from pydantic import Field

from warroom.serve.openenv_server import Action, ConcurrencyConfig, Environment, Observation, State, create_app


class EchoAction(Action):
    tool: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)


class EchoObservation(Observation):
    text: str = "ok"


class Echo(Environment[EchoAction, EchoObservation, State]):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> EchoObservation:
        return EchoObservation()

    def step(self, action: EchoAction, timeout_s: float | None = None, **options: Any) -> EchoObservation:
        return EchoObservation(reward=0.0)

    @property
    def state(self) -> State:
        return State()


class LoopEcho(Echo):
    REQUIRES_SINGLE_THREAD_EXECUTOR = True

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> EchoObservation:
        return self.reset()

    async def step_async(self, action: EchoAction, timeout_s: float | None = None, **options: Any) -> EchoObservation:
        return self.step(action)


def main() -> None:
    kind = LoopEcho if sys.argv[1:] == ["loop"] else Echo
    app = create_app(
        kind,
        EchoAction,
        EchoObservation,
        env_name="echo",
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=4096),
    )
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    config = uvicorn.Config(app, log_level="warning", ws_per_message_deflate=False)
    print(f"serving echo at http://127.0.0.1:{listening.getsockname()[1]}; Ctrl-C ends it", file=sys.stderr, flush=True)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
