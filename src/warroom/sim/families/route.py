"""Routing: weight moves to a pool some of whose hosts are drained."""

from warroom.core.splits import Split
from warroom.sim.family import Family, Modes, Number
from warroom.sim.formulas import share_of_hosts

FAMILY = Family(
    name="route",
    about="moves a percentage of the requests it concerns to a pool of hosts",
    agents=("load_balancer", "canary_controller"),
    by_agents=("service errors", "service late"),
    made_to="service",
    mechanism="misroute",
    part_kind="host pool",
    parts={
        Split.TRAIN: ("blue", "green", "amber", "violet"),
        Split.TEST: ("north", "south", "harbour", "summit"),
    },
    setting=Number("weight of the pool", "%"),
    size="new value",
    measure="move {size} % of the weight of the requests it concerns",
    lever=Number("hosts of the pool that are drained", "%"),
    formula=share_of_hosts("percent x share x hosts of the pool that are drained"),
    modes=Modes("drained hosts are picked like the others", "drained hosts are skipped by health checks"),
    alone=True,
    quotes=("sessions", "queue"),
)
