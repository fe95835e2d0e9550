"""Cases of a law: some run in every suite, the further ones under `make test-thorough` alone."""

from collections.abc import Iterable
from typing import Any

import pytest


def some_of(every: Iterable[Any], *now: object) -> list[Any]:
    """Every case for `parametrize`; those that are not among `now` are marked `thorough`."""
    cases = list(every)
    assert set(now) <= set(cases), f"{now} are not all among {cases}"
    return [case if case in now else pytest.param(case, marks=pytest.mark.thorough) for case in cases]
