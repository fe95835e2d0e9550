"""What is particular to an environment's audit: `PROBES` of the package beside this that bears its name."""

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from warroom.core.errors import UnknownName
from warroom.envs import environments
from warroom.evals.audit.certify import Certifier
from warroom.evals.audit.exploits import ExploitPolicy, Script, ScriptSpace, policy_set_of
from warroom.evals.audit.leaks import LeakRules
from warroom.evals.audit.outcomes import OutcomeRules
from warroom.policies import PolicySet


@dataclass(frozen=True)
class AuditSpec:
    """Everything that an audit, a search, a leak scan and certificates need to know of an environment."""

    env: str
    naive: tuple[str, ...]
    """Shipped policies that weigh no evidence; `noop` and the naive `heuristic` are among them."""
    bars: tuple[str, ...]
    """The bars of `audit.BARS` that are held here."""
    outcome_rules: OutcomeRules
    exploits: Mapping[str, ExploitPolicy]
    """Degenerate teams by name."""
    scripts: ScriptSpace
    """What a search may put together."""
    leaks: LeakRules
    certify: Certifier
    options: Mapping[str, Any] = field(default_factory=dict)
    """What incidents are built from besides."""

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats of the environment."""
        return environments()[self.env].seats


def find_audit_spec(env: str, options: Mapping[str, Any] | None = None) -> AuditSpec:
    """The probes of an environment, under options; a `ValueError` for one that nobody wrote probes for."""
    if env not in environments():
        raise UnknownName("environment", env, environments())
    if importlib.util.find_spec(f"warroom.evals.audit.{env}") is None:
        raise ValueError(
            f"the environment {env!r} has no audit spec; write it: src/warroom.evals.audit.{env}/__init__.py"
        )
    found: AuditSpec = importlib.import_module(f"warroom.evals.audit.{env}").AUDIT_SPEC
    return replace(found, options=options, leaks=replace(found.leaks, options=options)) if options else found


def degenerate_policy_set(env: str, name: str) -> PolicySet:
    """The degenerate team of that name."""
    audit_spec = find_audit_spec(env)
    return policy_set_of(name, audit_spec.seats, audit_spec.exploits[name].seats)


def script_policy_set(env: str, script: Script) -> PolicySet:
    """The team that plays a script."""
    audit_spec = find_audit_spec(env)
    return policy_set_of(script.name, audit_spec.seats, audit_spec.scripts.seats(script.chosen))
