"""Completion of names behind options. Nothing heavy may be imported: a person is waiting."""

from collections.abc import Callable, Iterable
from typing import get_type_hints

import typer
from typer.models import ParameterInfo

from warroom import policies
from warroom.core.scenario import TIERS
from warroom.core.splits import Split
from warroom.envs import environments, scenarios
from warroom.policies.names import MODEL_PREFIXES

Completer = Callable[[typer.Context, str], list[str]]
"""(what was typed so far, the word that is being typed) -> what it may become."""


def complete_names(command: Callable[..., None]) -> None:
    """Let every option of a command that takes names be completed."""
    for option, hint in get_type_hints(command, include_extras=True).items():
        for declared in getattr(hint, "__metadata__", ()):
            if isinstance(declared, ParameterInfo):
                declared.autocompletion = declared.autocompletion or NAMES.get(option)


def environment_names(context: typer.Context, typed: str) -> list[str]:
    """Every environment."""
    return list(environments())


def scenario_names(context: typer.Context, typed: str) -> list[str]:
    """Every scenario by its id; paths of scenario files are completed by the shell."""
    return list(scenarios())


def scenarios_of_env(context: typer.Context, typed: str) -> list[str]:
    """The scenarios of the environment that was named, without its name."""
    env, known = _env_of(context), scenarios()
    return _behind_commas(typed, (id.partition("/")[2] for id in known if id.startswith(f"{env}/")))


def suite_names(context: typer.Context, typed: str) -> list[str]:
    """The suites of the environment that was named."""
    return list(environments()[_env_of(context)].suites)


def policy_names(context: typer.Context, typed: str) -> list[str]:
    """Every policy of the environment that was named, after those already typed."""
    return _behind_commas(typed, [*policies.policy_names(_env_of(context)), *MODEL_PREFIXES])


def seat_names(context: typer.Context, typed: str) -> list[str]:
    """The seats of the environment that was named, after those already typed."""
    return _behind_commas(typed, environments()[_env_of(context)].seats)


def tier_names(context: typer.Context, typed: str) -> list[str]:
    """The tiers, after those already typed."""
    return _behind_commas(typed, TIERS)


def split_names(context: typer.Context, typed: str) -> list[str]:
    """The splits."""
    return [split.value for split in Split]


def _env_of(context: typer.Context) -> str:
    """The environment of the command so far: its option, or what stands before the scenario's name."""
    named = str(
        context.params.get("env") or context.params.get("incident") or context.params.get("scenario") or ""
    ).partition("/")[0]
    return named if named in environments() else next(iter(environments()))


def _behind_commas(typed: str, names: Iterable[str]) -> list[str]:
    before, comma, _ = typed.rpartition(",")
    return [before + comma + name for name in names if name not in before.split(",")]


NAMES: dict[str, Completer] = {
    "env": environment_names,
    "incident": scenario_names,
    "scenario": scenario_names,
    "scenarios": scenarios_of_env,
    "suite": suite_names,
    "policy": policy_names,
    "policies": policy_names,
    "team": policy_names,
    "teammates": policy_names,
    "seat": seat_names,
    "seats": seat_names,
    "tier": tier_names,
    "tiers": tier_names,
    "split": split_names,
}
"""What completes an option, by its name in the command's function."""
