"""A call in the middle of the system goes wrong: at the one that calls, or at the one that is called."""

from warroom.envs.logs.scenario import scenario

SCENARIO = scenario(
    __name__,
    __doc__,
    causes=(
        "connection_leak",
        "client_release",
        "narrow_client",
        "stale_addresses",
        "retry_storm",
        "runaway_job",
        "locks",
        "bad_release",
        "saturation",
    ),
    core=True,
)
