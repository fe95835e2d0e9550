"""Who may talk to a server that a command starts: the flags of every such command, and what they mean together."""

import os
import secrets
from collections.abc import Callable, Mapping

from warroom.cli.flags import with_options
from warroom.serve.access import TOKEN_VARIABLE, AccessOptions, ServerAccess

TOKEN_BYTES = 32


def with_access(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags of `AccessOptions` in the place of its parameter `allowed`; see `access_of`."""
    return with_options(AccessOptions, param="allowed")(command)


def access_of(host: str, allowed: Mapping[str, object], *, draws_token: bool = False) -> ServerAccess:
    """Who may talk to a server at `host`. With `draws_token` a server that is not public has a token in any case.

    A `ValueError` says what is missing where other machines can reach the address.
    """
    said = AccessOptions.parse(allowed)
    token = said.token or (None if said.public else os.environ.get(TOKEN_VARIABLE) or None)
    if token is None and draws_token and not said.public:
        token = secrets.token_urlsafe(TOKEN_BYTES)
    return ServerAccess(host, said.allow_host, token, said.public)
