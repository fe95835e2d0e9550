"""OpenEnv servers of the environments: one application for one environment, or for all under a prefix each."""

import gc
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

import warroom
from warroom.core.errors import UnknownName
from warroom.envs import environments
from warroom.policies import hf, policy_set
from warroom.serve.environment import IncidentEnvironment, ServerConfig
from warroom.serve.guard import RequestGuard
from warroom.serve.index import index_page
from warroom.serve.openenv_server import ConcurrencyConfig, create_app, create_fastapi_app
from warroom.serve.reset_request import BadRequest
from warroom.serve.wire import WarroomAction, WarroomState

ALL = "all"
OPTIONS_VARIABLE = "WARROOM_SERVE"
"""Environment variable by which a worker process learns what to serve, as JSON."""
PAGE = "/web"
"""Where a page for people is; OpenEnv's tools and the Hub look for one there."""
IDLE_SESSION_SECONDS = 600.0
"""Seconds without a message after which a session that no socket holds is given up."""
GC_THRESHOLDS = (20_000, 20, 50)
"""Thresholds of the garbage collector: incidents are built of many small parts, and most go without its help."""
PING = (30.0, 600.0)
"""Seconds between two pings, and after which a client that answers none is gone: a model may think for minutes."""

Mount = Callable[[FastAPI, str], object]
"""Puts a page for people at a path of an application."""


@dataclass(frozen=True)
class ServeOptions:
    """What a server offers."""

    env: str = ALL
    """An environment, or `all`."""
    max_sessions: int = 4096
    """Open at once, for each environment and worker."""
    team: str = "expert"
    """Who plays the seats that a client leaves to others, unless it names somebody else."""
    debug_truth: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The environments that are served."""
        return tuple(environments()) if self.env == ALL else (self.env,)

    def check(self) -> None:
        """Refuse what cannot be served, before a port is taken."""
        if self.env != ALL and self.env not in environments():
            raise UnknownName("environment", self.env, (*environments(), ALL))
        named = [part.rpartition("=")[2] for part in self.team.split(",")]
        if any(policy == "human" or policy.startswith("llm:") for policy in named):
            raise ValueError(f"a server has nobody to ask for {self.team!r}: name scripts, or models of this machine")
        for name in self.names:
            for model in policy_set(name, self.team).models.values():
                hf.load(model)  # now, not at the first client's reset


def application(serving: ServeOptions | None = None, page: Mount | None = None) -> FastAPI:
    """The application; without settings, what the variable `WARROOM_SERVE` asks for.

    A `page` is mounted at `/web`, whether or not OpenEnv was told to show one of its own. `/` leads there, or names it
    among several environments.
    """
    serving = serving or ServeOptions(**json.loads(os.environ.get(OPTIONS_VARIABLE, "{}")))
    serving.check()
    create = create_app if page is None else create_fastapi_app
    root = _served(serving.env, serving, create) if serving.env != ALL else _side_by_side(serving, create)
    if page is not None:
        for path in (PAGE, "/") if serving.env != ALL else (PAGE,):
            root.add_api_route(path, _to_page, methods=["GET", "HEAD"], include_in_schema=False)
        page(root, PAGE)
    if not any(getattr(route, "path", None) == "/" for route in root.routes):  # a page takes it
        index = partial(_index, serving, page is not None)
        root.add_api_route("/", index, include_in_schema=False, response_class=HTMLResponse)
    root.add_middleware(RequestGuard)
    return root


def worker(page: Mount | None = None) -> FastAPI:
    """The application of a process that does nothing else: what lives as long as it is left alone by the collector."""
    app = application(page=page)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    return app


def settings(serving: ServeOptions) -> str:
    """What to put into `WARROOM_SERVE`."""
    return json.dumps(asdict(serving))


def _served(name: str, serving: ServeOptions, create: Callable[..., FastAPI]) -> FastAPI:
    """One environment at the root, as OpenEnv's tools expect it."""
    server_config = ServerConfig(name, serving.team, serving.debug_truth)
    app = create(
        partial(IncidentEnvironment, server_config),
        WarroomAction,
        server_config.observation_type,
        env_name=name,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=serving.max_sessions, session_timeout=IDLE_SESSION_SECONDS
        ),
        state_cls=WarroomState,
    )
    app.title, app.version = f"Warroom: {name}", warroom.__version__
    app.add_exception_handler(BadRequest, _bad_request)
    app.add_exception_handler(TypeError, _no_key)
    return app


def _side_by_side(serving: ServeOptions, create: Callable[..., FastAPI]) -> FastAPI:
    parts = {name: _served(name, serving, create) for name in serving.names}

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # A mounted application is not told by its host when it begins and ends.
        async with AsyncExitStack() as stack:
            for part in parts.values():
                await stack.enter_async_context(part.router.lifespan_context(part))
            yield

    root = FastAPI(title="Warroom", version=warroom.__version__, lifespan=lifespan)
    root.add_api_route("/health", _health, tags=["Health"])
    for name, part in parts.items():
        root.mount(f"/{name}", part)
    return root


async def _to_page(request: Request) -> RedirectResponse:
    """Relative, and with the query: a proxy before the server may have another scheme and a prefix of its own."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{PAGE.removeprefix('/')}/{query}")


async def _index(serving: ServeOptions, page: bool, request: Request) -> HTMLResponse:
    prefixes = {name: f"/{name}" if serving.env == ALL else "" for name in serving.names}
    place = f"{PAGE}/" if page else None
    return HTMLResponse(index_page(prefixes, str(request.base_url).rstrip("/"), serving.debug_truth, place))


async def _health() -> dict[str, str]:
    return {"status": "healthy"}


async def _bad_request(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 400)


async def _no_key(request: Request, error: Exception) -> JSONResponse:
    """OpenEnv looks sessions up by whatever stands for their id in a JSON-RPC call; a list is none."""
    if not request.url.path.endswith("/mcp"):
        raise error
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "session_id is a text"}})
