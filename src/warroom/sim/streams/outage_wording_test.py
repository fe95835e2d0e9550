"""Outage wordings of the test split."""

from warroom.sim.streams.outage_wording_train import TRAIN_OPENINGS, TRAIN_OPERATOR, TRAIN_WORDINGS

TEST_WORDINGS, TEST_OPENINGS, TEST_OPERATOR = TRAIN_WORDINGS, TRAIN_OPENINGS, TRAIN_OPERATOR
