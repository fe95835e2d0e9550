"""The environments and their scenarios, found by scanning the file system: a new scenario is one new file."""

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from warroom.core.env import Env
from warroom.core.errors import UnknownName
from warroom.core.scenario import TIERS, EnvSpec, Scenario

_FOLDER = Path(__file__).parent


@cache
def environments() -> dict[str, EnvSpec]:
    """Every environment by name."""
    names = sorted(m.name for m in pkgutil.iter_modules([str(_FOLDER)]) if m.ispkg)
    return {name: importlib.import_module(f"{__name__}.{name}").ENVIRONMENT for name in names}


@cache
def scenarios() -> dict[str, Scenario]:
    """Every scenario that ships with the package, by id (`fleet/db_deadlock`), in the order of the alphabet."""
    found = {}
    for env in environments():
        folder = _FOLDER / env / "scenarios"
        for name in sorted(m.name for m in pkgutil.iter_modules([str(folder)])):
            found[f"{env}/{name}"] = importlib.import_module(f"{__name__}.{env}.scenarios.{name}").SCENARIO
    return found


@cache
def scenario_from_file(path: Path) -> Scenario:
    """A scenario of yours, from a Python file anywhere: the file defines `SCENARIO` as the shipped ones do."""
    if not path.is_file():
        raise ValueError(f"no scenario file {str(path)!r}")
    name = f"warroom_scenario_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the file is the caller's: whatever it raises is told to the caller
        raise ValueError(f"the scenario file {path} does not load: {error!r}") from error
    found: Scenario | None = getattr(module, "SCENARIO", None)
    if not all(hasattr(found, part) for part in ("name", "story", "suites", "incident_spec")) or found is None:
        raise ValueError(f"{path} defines no SCENARIO; see envs/fleet/scenarios/ for what one looks like")
    if any(known.rpartition("/")[2] == found.name for known in scenarios()):
        raise ValueError(f"{path}: a shipped scenario is called {found.name!r} already; rename the file")
    return found


def find(scenario: str) -> tuple[EnvSpec, Scenario]:
    """The environment and scenario of an id; `fleet/path/to/file.py` loads a scenario of yours."""
    env, _, name = scenario.partition("/")
    if env not in environments():
        raise (
            UnknownName("scenario", scenario, scenarios())
            if not name
            else UnknownName("environment", env, environments())
        )
    if name.endswith(".py"):
        return environments()[env], scenario_from_file(Path(name))
    if scenario not in scenarios():
        raise UnknownName("scenario", scenario, [known for known in scenarios() if known.startswith(env + "/")])
    return environments()[env], scenarios()[scenario]


def suite(env: str, name: str | None = None) -> list[str]:
    """Ids of the scenarios of one suite of an environment (of its default suite without a name)."""
    if env not in environments():
        raise UnknownName("environment", env, environments())
    known = environments()[env].suites
    chosen = name or known[0]
    if chosen not in known:
        raise UnknownName("suite", chosen, known)
    return [id for id, scenario in scenarios().items() if id.startswith(env + "/") and chosen in scenario.suites]


def make(scenario: str, tier: str, seed: int, **options: Any) -> Env:
    """Build one episode: single use, same bytes for the same arguments wherever it runs."""
    environment, found = find(scenario)
    if tier not in TIERS:
        raise UnknownName("tier", tier, TIERS)
    strange = sorted(set(options) - set(environment.options))
    if strange:
        raise UnknownName("option", strange[0], environment.options)
    return _build(environment, found, tier, seed, options)


def _build(environment: EnvSpec, found: Scenario, tier: str, seed: int, options: Mapping[str, Any]) -> Env:
    return environment.build(found, tier, seed, options)
