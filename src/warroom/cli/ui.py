"""`warroom ui`."""

import sys
import webbrowser
from ipaddress import ip_address
from typing import Annotated

import typer

from warroom.cli import heavy
from warroom.cli.api import connect, with_api
from warroom.cli.listening import address, listen
from warroom.cli.output import say
from warroom.policies.llm import ApiOptions, is_llm
from warroom.view.ui.policy_choice import AllowedPolicies

PORT = 7860


@with_api
def ui_command(
    api: ApiOptions | None,
    host: Annotated[str, typer.Option(help="Where to listen; 0.0.0.0 lets others in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = PORT,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser on it.")] = True,
    policies: Annotated[
        str | None,
        typer.Option(help="Who may be seated besides a person, by comma. Default: all scripts, and models that ship."),
    ] = None,
) -> None:
    """Watch incidents in the browser, or take a seat: pick who plays, step or run, look back, see what it truly was.

    Only a page on this machine lets its visitors type models (hf:FOLDER, llm:MODEL); others offer what is listed.

    Example: warroom ui --policies expert,heuristic,nano
    """
    names = None if policies is None else tuple(name.strip() for name in policies.split(",") if name.strip())
    AllowedPolicies(names)  # a wrong name ends the command before anything is opened
    served = [name for name in names or () if is_llm(name)]
    if api is not None and names is not None and not served:
        raise ValueError("options of a model behind a server were given, and --policies names no llm:MODEL")
    # With the options at hand models may be typed too, where typing is let.
    with listen(host, port) as bound, connect([*served, *(["typed"] if api is not None else [])], api) as client:
        page = heavy.ui_server

        def ready() -> None:
            say(f"Warroom is at {address(bound)} (Ctrl-C ends it)")
            if show and sys.stdout.isatty():
                webbrowser.open(address(bound))

        page.serve(bound, AllowedPolicies(names, _is_own(host), client), ready)


def _is_own(host: str) -> bool:
    """Whether nobody but this machine can reach it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
