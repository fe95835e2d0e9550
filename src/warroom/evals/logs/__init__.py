"""What is particular to the audit of log triage."""

from warroom.core.env import Env
from warroom.envs.logs import ENVIRONMENT
from warroom.evals.logs.certify import certify
from warroom.evals.logs.degenerate import DEGENERATE
from warroom.evals.logs.leaks import RULES
from warroom.evals.logs.scripts import SCRIPTS
from warroom.evals.outcomes import Judge
from warroom.evals.probes import Probes


def has_root(env: Env) -> bool:
    """Whether anything is wrong."""
    return bool(env.truth()["roots"])


PROBES = Probes(
    env="logs",
    naive=(
        "noop", "random", "loudest", "loudest_delta", "first_error", "keyword", "blame", "sweep", "heuristic",
    ),
    bars=("below heuristic", "void", "ceiling", "paid once"),
    judge=Judge(ENVIRONMENT.looking, has_root),
    recipes=DEGENERATE,
    scripts=SCRIPTS,
    leaks=RULES,
    certify=certify,
)  # fmt: skip
