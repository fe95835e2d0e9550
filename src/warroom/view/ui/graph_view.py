"""The graph of a scene on the page: once for wide screens, once for narrow ones; the style shows one of them."""

from itertools import pairwise
from typing import NamedTuple

from warroom.core.scene import Scene
from warroom.view.graph import MARGIN, NODE_HEIGHT, NODE_WIDTH, Layout, layout, svg

WIDE, NARROW = 640, 360
"""Widths in pixels for which it is drawn, at most."""


MAX_SCALE = 1.25
"""How much it may be magnified to fill its place."""
ROW_SPACING = 0.55
"""Share of the space between two rows that is kept: the page has less height than width."""


class GraphLayouts(NamedTuple):
    """Where the parts of an incident stand from its first call to its last."""

    wide: Layout
    narrow: Layout


def layouts(scene: Scene) -> GraphLayouts:
    """Places for the parts of a scene, with nothing left empty at the sides."""
    return GraphLayouts(_compact(layout(scene, WIDE)), _compact(layout(scene, NARROW)))


def graph(scene: Scene, placed: GraphLayouts) -> str:
    """The graph; empty where a scene has no parts. Parts that were not there before are placed anew."""
    if not scene.nodes:
        return ""
    if any(node.name not in placed.wide.at for node in scene.nodes):
        placed = layouts(scene)
    wide, narrow = svg(scene, WIDE, placed.wide), svg(scene, NARROW, placed.narrow)
    most = f"max-height:{MAX_SCALE * placed.wide.height:.0f}px"
    return (
        f'<div class="wr-picture"><div class="wr-wide"><div style="{most}">{wide}</div></div>'
        f'<div class="wr-narrow">{narrow}</div></div>'
    )


def _compact(placed: Layout) -> Layout:
    """The same places with less air around and between them."""
    if not placed.at:
        return placed
    side = NODE_WIDTH / 2 + MARGIN
    low = min(x for x, _ in placed.at.values()) - side
    high = max(x for x, _ in placed.at.values()) + side
    rows = sorted({y for _, y in placed.at.values()})
    down, last = {rows[0]: rows[0]}, rows[0]
    for above, below in pairwise(rows):
        last += NODE_HEIGHT + ROW_SPACING * (below - above - NODE_HEIGHT)
        down[below] = last
    at = {name: (x - low, down[y]) for name, (x, y) in placed.at.items()}
    return Layout(round(high - low), round(last + NODE_HEIGHT + MARGIN), at)
