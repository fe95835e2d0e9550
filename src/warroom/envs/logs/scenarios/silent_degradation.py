"""Ordinary requests take a little longer every minute, and nobody writes a warning until late."""

from warroom.envs.logs.scenario import outage
from warroom.sim.outages import BACKLOG, CREEPING_RELEASE, HEAP_LEAK, PLAN_CACHE, REPORT

SCENARIO = outage(
    __name__, __doc__, budget=15, core=True, causes=(PLAN_CACHE, REPORT, HEAP_LEAK, BACKLOG, CREEPING_RELEASE),
    onset=(-6, -6), hush=12, least_noise=0.6,
)  # fmt: skip
