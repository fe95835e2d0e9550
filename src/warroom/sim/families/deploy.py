"""Builds: new code for some of the requests."""

from warroom.core.splits import Split
from warroom.sim.family import Family, Modes, Number
from warroom.sim.formulas import share_of_traffic

FAMILY = Family(
    name="deploy",
    about="ships a build with a changed module to a percentage of the requests it concerns",
    agents=("deploy_bot", "config_sync"),
    by_agents=("service errors", "service late"),
    by_colleagues=("service late",),
    made_to="service",
    mechanism="bad_release",
    part_kind="module",
    parts={
        Split.TRAIN: ("quote.table", "cart.merge", "price.round", "user.prefs"),
        Split.TEST: ("offer.rank", "basket.join", "tax.split", "guest.token"),
    },
    setting=Number("share of the new build", "%"),
    size="new value",
    measure="ship a build to {size} % of the requests it concerns",
    lever=Number("requests that pass the module", "requests/s"),
    formula=share_of_traffic("percent x share x requests that pass the module / load", per_request=1.0),
    modes=Modes("its new build answers them", "its new build runs dark"),
    quotes=("heap", "threads"),
)
