"""Outage wordings of the test split."""

from warroom.sim.streams.outage_wording import Wordings
from warroom.sim.streams.outage_wording_test_calls import TEST_CALLS
from warroom.sim.streams.outage_wording_test_failures import TEST_FAILURES
from warroom.sim.streams.outage_wording_test_outside import TEST_OPENINGS, TEST_OPERATOR, TEST_OUTSIDE
from warroom.sim.streams.outage_wording_test_slow import TEST_SLOW

__all__ = ["TEST_OPENINGS", "TEST_OPERATOR", "TEST_WORDINGS"]

TEST_WORDINGS: Wordings = TEST_FAILURES | TEST_CALLS | TEST_SLOW | TEST_OUTSIDE
