"""The page of `warroom ui` mounted on a server of environments."""

from fastapi import FastAPI

from warroom.serve.app import Mount, ServeOptions
from warroom.view.ui import server
from warroom.view.ui.lobby import MAX_VISITORS, Lobby
from warroom.view.ui.policy_choice import AllowedPolicies


def page_for(serving: ServeOptions) -> Mount:
    """Mounts the page of `warroom ui` beside what is served.

    It offers what is served and no more, takes as many visitors as an environment takes sessions, and nobody can name
    a model that is not on its list.
    """

    def mount(app: FastAPI, path: str) -> None:
        server.mounted(
            app,
            path,
            AllowedPolicies(allow_typed_models=False, envs=serving.names),
            Lobby(max_visitors=min(MAX_VISITORS, serving.max_sessions)),
        )

    return mount
