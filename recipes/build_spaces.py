"""Build the folders that OpenEnv and the Hub deploy, one for each environment, from `spaces/template`.

.venv/bin/python recipes/build_spaces.py [--out build/spaces] [--wheel] [fleet logs tickets]

`spaces/ENV.json` holds what cannot be worked out: the looks of the card, the canaries (calls that deserve no score) and
the probe (calls that OpenEnv's validation makes).
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from string import Template
from typing import Any

from warroom.envs import env_spec, environments, make
from warroom.serve.tasks import SEEDS, task_specs

ROOT = Path(__file__).parents[1]
SPACES = ROOT / "spaces"
PROBE_RESET = {"episode_id": "probe", "seed": 42, "options": {}}


def build(env: str, out: Path) -> Path:
    """Write the Space of an environment into a folder of `out`, and return that folder."""
    details = json.loads((SPACES / f"{env}.json").read_text(encoding="utf-8"))
    values = _values(env, details)
    for source in sorted((SPACES / "template").rglob("*")):
        if source.is_file() and "__pycache__" not in source.parts:
            text = Template(source.read_text(encoding="utf-8")).substitute(values)
            _write(out / env / source.relative_to(SPACES / "template"), text)
    probe = {"plan_schema_version": "1", "reset": PROBE_RESET, "actions": details["probe"]}
    _write(out / env / "validation" / "canaries.json", json.dumps(details["canaries"], indent=1) + "\n")
    _write(out / env / "validation" / "runtime.json", json.dumps(probe, indent=1) + "\n")
    return out / env


def _values(env: str, details: dict[str, Any]) -> dict[str, str]:
    """What the template's `$names` stand for."""
    played = make(task_specs(env, "test")[0])
    tools = {tool.name for seat in played.SEATS for tool in played.tools_of(seat)}
    return {
        "env": env,
        "summary": env_spec(env).summary,
        "tools": ", ".join(sorted(tools)),
        "task_counts": ", ".join(f"{split}: {len(task_specs(env, split))}" for split in SEEDS),
        **{name: details[name] for name in ("emoji", "color_from", "color_to")},
    }


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Build what was asked for and print where it is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spaces", nargs="*", default=list(environments()))
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "spaces")
    parser.add_argument("--wheel", action="store_true", help="put a wheel of this source beside each Dockerfile")
    asked = parser.parse_args()
    for env in asked.spaces:
        folder = build(env, asked.out)
        if asked.wheel:
            pip = [sys.executable, "-m", "pip", "wheel", "--no-deps"]
            subprocess.run([*pip, "--wheel-dir", folder / "wheels", ROOT], check=True)
        print(folder)


if __name__ == "__main__":
    main()
