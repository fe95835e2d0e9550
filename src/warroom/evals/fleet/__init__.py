"""What is particular to the fleet's audit."""

from warroom.core.env import Env
from warroom.envs.fleet import ENVIRONMENT
from warroom.evals.fleet.certify import certify
from warroom.evals.fleet.degenerate import DEGENERATE
from warroom.evals.fleet.leaks import RULES
from warroom.evals.fleet.scripts import SCRIPTS
from warroom.evals.outcomes import Judge
from warroom.evals.probes import Probes


def has_cure(env: Env) -> bool:
    """Whether anything is wrong: a false alarm has nothing to mend."""
    return bool(env.truth()["cure"])


PROBES = Probes(
    env="fleet",
    naive=("noop", "random", "keyword", "heuristic"),
    bars=("negative", "below heuristic", "solves less", "ceiling", "paid once"),
    judge=Judge(ENVIRONMENT.looking, has_cure),
    recipes=DEGENERATE,
    scripts=SCRIPTS,
    leaks=RULES,
    certify=certify,
)
