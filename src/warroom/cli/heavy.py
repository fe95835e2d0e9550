"""The modules that are slow to import or need an optional library, each imported when a command first uses it.

Help, completion and the commands that need none of them stay fast and work without the extras:
`heavy.publish.publish(folder)` imports matplotlib, `from warroom.cli import heavy` imports nothing.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warroom.cli import http_server as http_server
    from warroom.envs.logs import recorded as recorded
    from warroom.envs.tickets import imported as imported
    from warroom.evals import compare as compare
    from warroom.evals import power as power
    from warroom.evals import publish as publish
    from warroom.evals import report as report
    from warroom.evals import roc as roc
    from warroom.evals import run as run
    from warroom.evals.audit import certify as certify
    from warroom.evals.audit import search as search
    from warroom.serve import mcp as mcp
    from warroom.train import callbacks as callbacks
    from warroom.train import grpo as grpo
    from warroom.train import loading as loading
    from warroom.train import runner as runner
    from warroom.train import warmstart as warmstart

MODULES = {
    "audit": "warroom.evals.audit.run",
    "audit_spec": "warroom.evals.audit.spec",
    "callbacks": "warroom.train.callbacks",
    "certify": "warroom.evals.audit.certify",
    "compare": "warroom.evals.compare",
    "grpo": "warroom.train.grpo",
    "http_server": "warroom.cli.http_server",
    "imported": "warroom.envs.tickets.imported",
    "knowledge": "warroom.envs.tickets.storage",
    "llm_client": "warroom.policies.llm.client",
    "llm_preflight": "warroom.policies.llm.preflight",
    "loading": "warroom.train.loading",
    "mcp": "warroom.serve.mcp",
    "power": "warroom.evals.power",
    "publish": "warroom.evals.publish",
    "recorded": "warroom.envs.logs.recorded",
    "report": "warroom.evals.report",
    "roc": "warroom.evals.roc",
    "run": "warroom.evals.run",
    "runner": "warroom.train.runner",
    "search": "warroom.evals.audit.search",
    "ui_server": "warroom.view.ui.server",
    "warmstart": "warroom.train.warmstart",
}


def __getattr__(name: str) -> ModuleType:
    """Import a module by its name here; a `MissingExtra` names the extra whose libraries it lacks."""
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(MODULES[name])
