"""What is particular to an environment's audit: `PROBES` of the package beside this that bears its name."""

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from warroom.core.errors import Unknown
from warroom.envs import environments
from warroom.evals.certify import Certifier
from warroom.evals.leaks import LeakRules
from warroom.evals.outcomes import Judge
from warroom.evals.recipes import Recipe, Script, Scripts, team_of
from warroom.policies import Team


@dataclass(frozen=True)
class Probes:
    """Everything that an audit, a search, a leak scan and certificates need to know of an environment."""

    env: str
    naive: tuple[str, ...]
    """Shipped policies that weigh no evidence; `noop` and the naive `heuristic` are among them."""
    bars: tuple[str, ...]
    """The bars of `audit.BARS` that are held here."""
    judge: Judge
    recipes: Mapping[str, Recipe]
    """Degenerate teams by name."""
    scripts: Scripts
    """What a search may put together."""
    leaks: LeakRules
    certify: Certifier
    options: Mapping[str, Any] = field(default_factory=dict)
    """What incidents are built from besides."""

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats of the environment."""
        return environments()[self.env].seats


def probes_of(env: str, options: Mapping[str, Any] | None = None) -> Probes:
    """The probes of an environment, under options; a `ValueError` for one that nobody wrote probes for."""
    if env not in environments():
        raise Unknown("environment", env, environments())
    if importlib.util.find_spec(f"warroom.evals.{env}") is None:
        raise ValueError(f"the environment {env!r} has no probes; write them: src/warroom/evals/{env}/__init__.py")
    found: Probes = importlib.import_module(f"warroom.evals.{env}").PROBES
    return replace(found, options=options, leaks=replace(found.leaks, options=options)) if options else found


def degenerate_team(env: str, name: str) -> Team:
    """The degenerate team of that name."""
    probes = probes_of(env)
    return team_of(name, probes.seats, probes.recipes[name].seats)


def script_team(env: str, script: Script) -> Team:
    """The team that plays a script."""
    probes = probes_of(env)
    return team_of(script.name, probes.seats, probes.scripts.seats(script.chosen))
