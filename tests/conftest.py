"""Where the tests find real data, and the switch that rewrites golden files."""

import os
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="rewrite the golden transcripts")


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder of real recordings; tests that need it skip where it does not exist."""
    beside = Path(__file__).parents[2] / "shared" / "realdata"
    folder = Path(os.environ.get("WARROOM_REALDATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no real data: neither WARROOM_REALDATA nor {beside} is a folder")
    return folder
