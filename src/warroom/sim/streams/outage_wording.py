"""The shape of the tables of outage wordings.

Every line begins with I, W or E for its level and a space. Slots: `{object}` is the build, session or prefix; `{peer}`
the other service (`client` outages and both ends of `callee` ones); `{ms}`, `{kb}`, `{n}`, `{pct}`, `{seq}` figures.
"""

from typing import NamedTuple

from warroom.sim.outages import ObjectKind


class OutageWording(NamedTuple):
    """How one outage is told of. Both outcomes name the same slots, and come at the same levels."""

    harmful: tuple[str, ...]
    """The request comes to harm for it."""
    coped: tuple[str, ...]
    """The same trouble, and the request gets through all the same."""


Wordings = dict[tuple[str, str], OutageWording]
"""By name of the outage and kind of component; an empty kind is for all that have no row of their own."""
Openings = dict[tuple[ObjectKind, str], tuple[str, ...]]
"""What is written as a build, session or prefix begins to matter, by what it is and kind of component. Such lines
belong to no request, and ordinary ones are written every hour."""
