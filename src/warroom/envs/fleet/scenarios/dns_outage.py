"""A service's resolver goes stale, and its calls to others fail before they leave."""

from warroom.envs.fleet.scenario import failure
from warroom.sim.faults import DNS
from warroom.sim.incident import Cast

SCENARIO = failure(__name__, __doc__, Cast(DNS), core=True)
