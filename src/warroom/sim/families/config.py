"""Settings: a pool of connections with fewer of them."""

from warroom.core.splits import Split
from warroom.sim.family import Family, Modes, Number, OldValue
from warroom.sim.formulas import demand

FAMILY = Family(
    name="config",
    about="changes the size of a pool of connections",
    agents=(),
    by_agents=(),
    by_colleagues=("service errors", "service late", "store errors"),
    made_to="service",
    mechanism="connections",
    part_kind="pool",
    parts={
        Split.TRAIN: ("main", "audit", "report", "legacy"),
        Split.TEST: ("bulk", "primary", "history", "outbound"),
    },
    setting=Number("connections of the pool", "connections"),
    old=OldValue(30, 120),
    size="cut",
    measure="shrink a pool by {size} %",
    lever=Number("connections in use before the change", "connections"),
    formula=demand("share x (1 - connections of the pool / connections in use before the change)"),
    modes=Modes("its size is read at once", "its size is read at the next restart"),
    harmless=(0.3, 0.7),
    quotes=("sockets", "threads"),
)
