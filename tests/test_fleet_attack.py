"""The learned attack: one page, or the fleet's trace alone, must not be worth much to a learner."""

import pytest

from learned_attacks.fleet import AttackResult, attack
from warroom.core.scenario import TIERS

pytestmark = pytest.mark.usefixtures("one_thread")

TRAIN, TEST = 30, 8
"""Seeds per scenario."""
WORTH = 0.5
"""Points an episode that flags from the trace alone may bring."""
SOLVED = 0.67
"""Share that one seat's first page may solve: 30 points below the expert's."""


def attacked(seat: str, tier: str, learner: str) -> AttackResult:
    found = attack(seat, tier, learner, TRAIN, TEST)
    assert found.incidents == 24 * TEST
    return found


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("learner", ["trees", "bayes"])
def test_neither_the_fleets_trace_nor_all_that_oversight_sees_first_gives_the_culprit_away(
    learner: str, tier: str
) -> None:
    found = attacked("oversight", tier, learner)
    assert found.flag_points <= WORTH
    assert found.solved <= SOLVED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "tier"), [("trees", "hard"), ("bayes", "easy"), ("bayes", "medium"), ("bayes", "hard")]
)
@pytest.mark.parametrize("seat", ["sre", "developer"])
def test_no_other_seats_first_page_solves_an_incident(seat: str, learner: str, tier: str) -> None:
    assert attacked(seat, tier, learner).solved <= SOLVED


@pytest.mark.slow
def test_the_managers_first_page_says_next_to_nothing() -> None:
    assert attacked("manager", "easy", "bayes").solved <= 0.2
