"""The options of models behind a server, and what a command does with them before and after such a model plays."""

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warroom.cli import heavy
from warroom.cli.output import say
from warroom.core.env import Env
from warroom.policies import PolicySet
from warroom.policies.llm import ApiOptions, SpendingCaps, is_llm
from warroom.policies.llm.ledger import UsageLedger
from warroom.policies.llm.usage import USAGE, in_words, summed
from warroom.runs import write_text

if TYPE_CHECKING:
    from warroom.policies.llm.client import LLMClient

PANEL = "Models behind an API (llm:MODEL)"


def _option(help_: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help_, rich_help_panel=PANEL, **more)


OPTIONS: dict[str, Any] = {
    "base_url": Annotated[
        str | None,
        _option(
            "URL of the server, such as http://localhost:8000/v1. Default: OPENAI_BASE_URL, else OpenAI. "
            "The API key is read from WARROOM_API_KEY or OPENAI_API_KEY."
        ),
    ],
    "temperature": Annotated[float | None, _option("Sampling temperature; 0 is greedy. Default: the server's.")],
    "max_output_tokens": Annotated[int | None, _option("Maximum tokens per message of the model. Default: 2048.")],
    "tool_calls": Annotated[
        str | None,
        _option(
            "Format of tool calls: api, text, or auto (the default), which finds out with one request before the run."
        ),
    ],
    "renderer": Annotated[
        str | None, _option("How observations and tools are rendered: plain (the default), or compact for a nano.")
    ],
    "reminders": Annotated[
        int | None,
        _option("Consecutive messages without a tool call that get a reminder, before the part ends. Default: 1."),
    ],
    "concurrency": Annotated[int | None, _option("Concurrent requests and episodes. Default: 8.")],
    "request_timeout": Annotated[float | None, _option("Timeout of a request in seconds. Default: 120.")],
    "retries": Annotated[
        int | None, _option("Retries of a request after 429, 5xx, a timeout or a lost connection. Default: 5.")
    ],
    "max_tokens": Annotated[
        int | None, _option("Token budget of the whole run, resumed parts included. Default: unlimited.")
    ],
    "max_dollars": Annotated[float | None, _option("Budget in dollars; needs both prices. Default: unlimited.")],
    "max_minutes": Annotated[float | None, _option("Time budget in minutes. Default: unlimited.")],
    "price_in": Annotated[float | None, _option("Price in dollars per million input tokens.")],
    "price_out": Annotated[float | None, _option("Price in dollars per million output tokens.")],
    "record": Annotated[Path | None, _option("Record all requests and responses in this file.")],
    "replay": Annotated[Path | None, _option("Answer all requests from this recording, without a network.")],
}
"""Each option by the name that it has in a command. Defaults are those of `Api`, which no help text has to load."""
CAPS = ("max_tokens", "max_dollars", "max_minutes", "price_in", "price_out")


def with_api(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options in the place of its parameter `api`."""
    signature = inspect.signature(command)
    own = [p for name, p in signature.parameters.items() if name != "api"]
    keyword = inspect.Parameter.KEYWORD_ONLY
    added = [inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in OPTIONS.items()]

    @wraps(command)
    def run(**given: Any) -> None:
        api = api_of({name: given.pop(name) for name in OPTIONS})
        command(**given, api=api)

    parameters = [p.replace(kind=keyword) for p in own] + added
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def api_of(given: Mapping[str, Any]) -> ApiOptions | None:
    """The checked options; None if none was given."""
    chosen = {name: value for name, value in given.items() if value is not None}
    if not chosen:
        return None

    caps = {name.removeprefix("max_"): chosen.pop(name) for name in CAPS if name in chosen}
    exact: dict[str, Any] = {
        name: Decimal(str(value)) if isinstance(value, float) else value for name, value in caps.items()
    }
    return ApiOptions(caps=SpendingCaps(**exact), **chosen)


def api_model_names(teams: Iterable["PolicySet"], api: ApiOptions | None) -> list[str]:
    """The models behind a server that play in these teams; options for them without any are refused."""
    names = [name for policy_set in teams for name in policy_set.models.values() if is_llm(name)]
    if not names and api is not None:
        raise ValueError("options for llm:MODEL were given, but no policy is llm:MODEL")
    return list(dict.fromkeys(names))


@contextmanager
def connect(
    names: Iterable[str], api: ApiOptions | None, folder: Path | None = None, resume: bool = False
) -> Iterator["LLMClient | None"]:
    """What these models play through; None where there are none. Says, or notes in its run folder, what it cost."""
    if not list(names):
        yield None
        return

    api, ledger = api or ApiOptions(), UsageLedger()
    if folder is not None and resume:
        ledger.load(folder)
    try:
        with heavy.llm_client.LLMClient(api, ledger, resume) as client:
            yield client
    finally:
        _note_usage(ledger, api, quiet=folder is not None)


def _note_usage(ledger: UsageLedger, api: ApiOptions, quiet: bool) -> None:
    usage = summed(ledger.lines, api.caps, _notes(api))
    if usage and ledger.folder is not None:
        write_text(ledger.folder / USAGE, json.dumps(usage, indent=1) + "\n")
    elif usage and usage["answered"] and not quiet:
        say(f"API usage: {in_words(usage)}")


def prepare_models(client: "LLMClient", names: Iterable[str], env: Env, noted: Mapping[str, Any]) -> dict[str, Any]:
    """Make one call for each model, or go on with what its run has noted of it; returns what the run notes."""
    out, preflight = {}, heavy.llm_preflight
    for name in names:
        if name in noted:
            preflight.restore_call_format(client, name, noted[name])
        else:
            decision = preflight.detect_call_format(client, name, env)
            if decision.why:
                say(f"note: {name}: {decision.why}; its calls are read from text", "yellow")
        out[name] = preflight.status(client, name)
    return out


def _notes(api: ApiOptions) -> dict[str, Any]:
    """Caps and prices of the last part of a run, in its own figures."""
    caps = {name: getattr(api.caps, name) for name in ("tokens", "dollars", "minutes", "price_in", "price_out")}
    return {
        "caps": {name: float(value) if isinstance(value, Decimal) else value for name, value in caps.items()},
        "replayed": api.replay is not None,
    }
