"""The modules that are slow to import or need an optional library, each imported when a command first uses it.

Help, completion and the commands that need none of them stay fast and work without the extras:
`heavy.publish.publish(folder)` imports matplotlib, `from warroom.cli import heavy` imports nothing.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from warroom.core.errors import MissingExtra

if TYPE_CHECKING:
    from warroom.cli import http_server as http_server
    from warroom.cli import page as page
    from warroom.envs.logs import recorded as recorded
    from warroom.envs.tickets import imported as imported
    from warroom.evals import compare as compare
    from warroom.evals import merge as merge
    from warroom.evals import parquet as parquet
    from warroom.evals import power as power
    from warroom.evals import publish as publish
    from warroom.evals import report as report
    from warroom.evals import roc as roc
    from warroom.evals import run as run
    from warroom.evals.audit import certify as certify
    from warroom.evals.audit import search as search
    from warroom.serve import mcp as mcp
    from warroom.serve import remote as remote
    from warroom.train import callbacks as callbacks
    from warroom.train import grpo as grpo
    from warroom.train import loading as loading
    from warroom.train import runner as runner
    from warroom.train import warmstart as warmstart


class HeavyModule(NamedTuple):
    """A module that is imported late."""

    path: str
    extra: str | None = None
    """The extra that has its libraries; None if it needs none."""


MODULES = {
    "imported": HeavyModule("warroom.envs.tickets.imported"),
    "knowledge": HeavyModule("warroom.envs.tickets.storage"),
    "recorded": HeavyModule("warroom.envs.logs.recorded"),
    "run": HeavyModule("warroom.evals.run"),
    "audit": HeavyModule("warroom.evals.audit.run", extra="plots"),
    "audit_spec": HeavyModule("warroom.evals.audit.spec", extra="plots"),
    "certify": HeavyModule("warroom.evals.audit.certify", extra="plots"),
    "compare": HeavyModule("warroom.evals.compare", extra="plots"),
    "merge": HeavyModule("warroom.evals.merge"),
    "parquet": HeavyModule("warroom.evals.parquet", extra="train"),
    "power": HeavyModule("warroom.evals.power", extra="plots"),
    "publish": HeavyModule("warroom.evals.publish", extra="plots"),
    "report": HeavyModule("warroom.evals.report", extra="plots"),
    "roc": HeavyModule("warroom.evals.roc", extra="plots"),
    "search": HeavyModule("warroom.evals.audit.search", extra="plots"),
    "callbacks": HeavyModule("warroom.train.callbacks", extra="train"),
    "grpo": HeavyModule("warroom.train.grpo", extra="train"),
    "loading": HeavyModule("warroom.train.loading", extra="train"),
    "runner": HeavyModule("warroom.train.runner", extra="train"),
    "warmstart": HeavyModule("warroom.train.warmstart", extra="train"),
    "http_server": HeavyModule("warroom.cli.http_server", extra="serve"),
    "mcp": HeavyModule("warroom.serve.mcp", extra="serve"),
    "page": HeavyModule("warroom.cli.page", extra="serve"),
    "remote": HeavyModule("warroom.serve.remote", extra="serve"),
    "ui_server": HeavyModule("warroom.view.ui.server", extra="serve"),
    "llm_client": HeavyModule("warroom.policies.llm.client", extra="llm"),
    "llm_preflight": HeavyModule("warroom.policies.llm.preflight", extra="llm"),
}


def __getattr__(name: str) -> ModuleType:
    """Import a module by its name here; a `MissingExtra` names the extra whose libraries it lacks."""
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    path, extra = MODULES[name]
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        if extra is None or str(error.name).startswith("warroom"):
            raise
        raise MissingExtra(extra, error) from error
