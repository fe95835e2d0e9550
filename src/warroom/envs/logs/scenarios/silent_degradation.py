"""Ordinary requests take a little longer every minute, and nobody writes a warning until late."""

from warroom.envs.logs.scenario import scenario
from warroom.sim.outages import BACKLOG, CREEPING_RELEASE, HEAP_LEAK, PLAN_CACHE, REPORT

SCENARIO = scenario(
    __name__, __doc__, budget=15, core=True, causes=(PLAN_CACHE, REPORT, HEAP_LEAK, BACKLOG, CREEPING_RELEASE),
    onset=(-6, -6), silent_minutes=12, min_noise=0.6,
)  # fmt: skip
