"""Someone tries stolen credentials, or uses a leaked token, at a service that users reach."""

from warroom.envs.logs.scenario import scenario
from warroom.sim.outages import ABUSE

SCENARIO = scenario(__name__, __doc__, budget=12, causes=(ABUSE,))
