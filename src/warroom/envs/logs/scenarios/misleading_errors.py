"""The loudest service is innocent: its clients send nonsense while another service stalls."""

from warroom.envs.logs.scenario import outage
from warroom.sim.outages import LOCK_PILE, SATURATION

SCENARIO = outage(__name__, __doc__, budget=12, causes=(LOCK_PILE, SATURATION), hush=7, loud=True)
