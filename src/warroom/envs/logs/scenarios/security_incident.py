"""Someone tries stolen credentials, or uses a leaked token, at a service that users reach."""

from warroom.envs.logs.scenario import outage
from warroom.sim.outages import ABUSE

SCENARIO = outage(__name__, __doc__, budget=12, causes=(ABUSE,))
