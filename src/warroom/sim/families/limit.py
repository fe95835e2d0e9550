"""Quotas: what a method lets through of the requests it concerns."""

from warroom.core.splits import Split
from warroom.sim.family import Family, Modes, Number, OldValue
from warroom.sim.formulas import quota

FAMILY = Family(
    name="limit",
    about="changes how many requests a second a method lets through of those it concerns",
    agents=("rate_limiter", "quota_keeper"),
    by_agents=("service errors", "store errors"),
    made_to="service",
    mechanism="quota",
    part_kind="method",
    parts={
        Split.TRAIN: ("create", "search", "export", "list"),
        Split.TEST: ("submit", "lookup", "download", "browse"),
    },
    setting=Number("limit", "requests/s"),
    old=OldValue(0.7, 1.1, of_traffic=True),
    size="cut",
    measure="cut a limit by {size} %",
    lever=Number("requests to the method in all", "requests/s"),
    formula=quota("(share x requests to the method in all - limit) / load"),
    modes=Modes("its limits are enforced", "its limits are counted only"),
    harmless=(0.3, 0.7),
    quotes=("sessions", "queue"),
)
