"""The audit of log triage."""

from warroom.core.env import Env
from warroom.envs.logs import ENVIRONMENT
from warroom.evals.audit.logs.certify import certify
from warroom.evals.audit.logs.degenerate import DEGENERATE
from warroom.evals.audit.logs.leaks import RULES
from warroom.evals.audit.logs.panel_worth import bands, shortcuts
from warroom.evals.audit.logs.scripts import SCRIPTS
from warroom.evals.audit.outcomes import OutcomeRules
from warroom.evals.audit.spec import AuditSpec


def has_root(env: Env) -> bool:
    """Whether anything is wrong."""
    return bool(env.truth()["roots"])


AUDIT_SPEC = AuditSpec(
    env="logs",
    naive=(
        "noop", "random", "loudest", "loudest_delta", "first_error", "keyword", "blame", "sweep", "heuristic",
    ),
    bars=("below heuristic", "void", "ceiling", "paid once"),
    outcome_rules=OutcomeRules(ENVIRONMENT.read_only_tools, has_root),
    exploits=DEGENERATE,
    scripts=SCRIPTS,
    searched_scripts=60,
    leaks=RULES,
    certify=certify,
    gates={"bands": bands, "shortcuts": shortcuts},
)  # fmt: skip
