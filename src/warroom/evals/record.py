"""What an evaluation notes of itself in `run.json`: its plan, and the versions of everything that plays."""

from typing import TYPE_CHECKING, Any

from warroom.core.user_files import file_hash
from warroom.envs import scenario_path
from warroom.evals.plan import Plan
from warroom.policies import hf, llm
from warroom.runs import Record, git_commit, now

if TYPE_CHECKING:
    from warroom.policies.llm.client import LLMClient


def evaluation_record(plan: Plan, command: str, client: "LLMClient | None" = None) -> Record:
    """The record of an evaluation that begins now; loads the models that play in it.

    Hashes of weights and of a user's files are part of the configuration: a run does not go on with others under the
    same name.
    """
    sets = plan.policy_sets().values()
    models = [name for policies in sets for name in policies.models.values() if not llm.is_llm(name)]
    status: dict[str, dict[str, Any]] = hf.policy_status(models)
    files = {name: file_hash for policies in sets for name, file_hash in policies.files.items()}
    paths = {scenario: scenario_path(scenario) for scenario in plan.scenarios}
    hashes = {
        "weights": {name: found["sha256"] for name, found in status.items()},
        "policy_files": files,
        "scenario_files": {scenario: file_hash(path) for scenario, path in paths.items() if path is not None},
    }
    asked = {"api": client.api.play} if client is not None else {}
    return Record(
        kind="eval",
        command=command,
        config=plan.config() | {name: found for name, found in hashes.items() if found} | asked,
        split=plan.split,
        seeds=list(plan.seeds),
        policies=list(plan.policies),
        planned=len(plan),
        started=now(),
        commit=git_commit(),
        versions=(hf.versions() if status else {}) | (client.versions if client is not None else {}),
        policy_status=status | {name: {"name": name, "hash": file_hash} for name, file_hash in files.items()},
    )
