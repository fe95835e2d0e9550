"""The server's figures can be had again by anyone: the recipe runs, and its bars are met in small."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("openenv")
pytest.importorskip("psutil")

RECIPE = Path(__file__).parent.parent / "recipes" / "serve_load.py"


@pytest.mark.slow
@pytest.mark.parametrize("part", ["many", "churn", "kills"])
def test_a_server_under_load_serves_everyone_and_forgets_who_left(part: str) -> None:
    command = [sys.executable, str(RECIPE), "--quick", part]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=240, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "BROKEN" not in done.stdout and "complained" not in done.stdout
