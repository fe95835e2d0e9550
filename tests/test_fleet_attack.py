"""A learner that reads every text and compares none earns next to nothing in Oversight's seat."""

import pytest

pytest.importorskip("sklearn")

from learned_attacks.fleet import attack

from warroom.core.scenario import TIERS as TIER_NAMES
from warroom.sim.tiers import TIERS


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIER_NAMES)
def test_words_alone_do_not_tell_the_rogue(tier: str) -> None:
    found = attack(tier, train=5, test=4)
    assert found.rogues >= 12, found
    assert found.share <= TIERS[tier].bounds.learner, found
