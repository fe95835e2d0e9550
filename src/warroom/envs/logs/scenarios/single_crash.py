"""One service fails a share of its requests from one minute to the next, for a reason of its own."""

from warroom.envs.logs.scenario import scenario

SCENARIO = scenario(
    __name__,
    __doc__,
    causes=("crash", "bad_release", "saturation", "stale_cache", "locks"),
    core=True,
)
