"""A provider outside the system fails: no remedy helps, a rollback harms, and it comes back by itself."""

from warroom.envs.logs.scenario import scenario
from warroom.sim.outages import VENDOR

SCENARIO = scenario(__name__, __doc__, budget=12, causes=(VENDOR,))
