"""Outage wordings of training and development."""

from warroom.sim.streams.outage_wording import Wordings
from warroom.sim.streams.outage_wording_train_calls import TRAIN_CALLS
from warroom.sim.streams.outage_wording_train_failures import TRAIN_FAILURES
from warroom.sim.streams.outage_wording_train_outside import TRAIN_OPENINGS, TRAIN_OPERATOR, TRAIN_OUTSIDE
from warroom.sim.streams.outage_wording_train_slow import TRAIN_SLOW

__all__ = ["TRAIN_OPENINGS", "TRAIN_OPERATOR", "TRAIN_WORDINGS"]

TRAIN_WORDINGS: Wordings = TRAIN_FAILURES | TRAIN_CALLS | TRAIN_SLOW | TRAIN_OUTSIDE
