"""The loudest service is innocent: its clients send nonsense while another service stalls."""

from warroom.envs.logs.scenario import scenario
from warroom.sim.outages import LOCK_PILE, SATURATION

SCENARIO = scenario(__name__, __doc__, budget=12, causes=(LOCK_PILE, SATURATION), silent_minutes=7, noisy_service=True)
