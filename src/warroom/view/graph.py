"""The graph of a scene as a drawing: callers above callees, every state told by colour, sign and word.

The drawing is one SVG element that brings its own style and takes the colours of the page around it where that
defines them; a viewer may put other states into it, for each part of a node has a class of its own.
"""

import html
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

from warroom.core.scene import Edge, Node, Scene

NODE_WIDTH, NODE_HEIGHT = 135, 62
GAP, MARGIN, LAYER_GAP, ROW_GAP = 8, 6, 44, 18
"""Pixels between nodes, around the drawing, between layers, and between the rows of one layer that is too wide."""
SWEEPS = 8
"""Passes of the barycentre method, down and up in turn."""
NAME_LETTERS, LONG_NAME, FACT_LETTERS = 18, 14, 22
"""Letters that fit into a node, those of a name from which it is set smaller, and those of the line below."""
SIGNS = {"healthy": "✓", "degraded": "!", "critical": "✕", "unknown": "?"}
DOCUMENTS = ("article", "ticket", "incident")
"""Kinds that are read, not run: they have no health of their own to be told."""
ICONS = {
    "gateway": "M2 8h9M8 4.5 11.5 8 8 11.5M14 2v12",
    "service": "M8 1.8 13.6 5v6L8 14.2 2.4 11V5z",
    "db": "M3 4c0-2.6 10-2.6 10 0v8c0 2.6-10 2.6-10 0zM3 4c0 2.6 10 2.6 10 0M3 8c0 2.6 10 2.6 10 0",
    "cache": "M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z",
    "queue": "M2 4h3v8H2zM6.5 4h3v8h-3zM11 4h3v8h-3z",
    "article": "M3.5 1.5h6l3 3v10h-9zM6 7h4.5M6 10h4.5",
    "ticket": "M1.5 4h13v3a1.5 1.5 0 0 0 0 3v3h-13v-3a1.5 1.5 0 0 0 0-3z",
    "incident": "M8 2 14.5 13.5h-13zM8 6.5v3.5M8 11.6v.6",
}
"""Strokes on a field of 16 by 16, by kind; other kinds are drawn as a service."""
STYLE = """
.service-graph{--g-ink:var(--ink,#1c2128);--g-soft:var(--soft,#59636e);--g-line:var(--line,#c3cad2);--g-paper:var(--paper,#fff);
--g-healthy:var(--healthy,#0f7b6c);--g-degraded:var(--degraded,#a65f00);--g-critical:var(--critical,#c0341d);
--g-degraded-fill:var(--degraded-fill,#fff3dc);--g-critical-fill:var(--critical-fill,#fde5df);
display:block;width:100%;height:auto;margin:0 auto;font:11px/1.3 system-ui,sans-serif}
@media (prefers-color-scheme:dark){.service-graph{--g-ink:var(--ink,#e4e8ec);--g-soft:var(--soft,#9aa5b1);
--g-line:var(--line,#46505c);--g-paper:var(--paper,#171c22);--g-healthy:var(--healthy,#4cc3ae);
--g-degraded:var(--degraded,#f0b04c);--g-critical:var(--critical,#ff8a73);
--g-degraded-fill:var(--degraded-fill,#33280f);--g-critical-fill:var(--critical-fill,#3d1c15)}}
.dark .service-graph{--g-ink:var(--ink,#e4e8ec);--g-soft:var(--soft,#9aa5b1);--g-line:var(--line,#46505c);
--g-paper:var(--paper,#171c22);--g-healthy:var(--healthy,#4cc3ae);--g-degraded:var(--degraded,#f0b04c);
--g-critical:var(--critical,#ff8a73);--g-degraded-fill:var(--degraded-fill,#33280f);--g-critical-fill:var(--critical-fill,#3d1c15)}
.service-graph .edge{fill:none;stroke:var(--g-line);stroke-width:1.5}
.service-graph .edge.optional{stroke-dasharray:4 4}
.service-graph .tip{fill:var(--g-line)}
.service-graph .box{fill:var(--g-paper);stroke:var(--g-line);stroke-width:1.2}
.service-graph .icon{fill:none;stroke:var(--g-soft);stroke-width:1.3;stroke-linejoin:round;stroke-linecap:round}
.service-graph text{fill:var(--g-ink)}
.service-graph .name{font-size:12px;font-weight:600}
.service-graph .name.long{font-size:10.5px}
.service-graph .fact{font-size:10.5px;fill:var(--g-soft)}
.service-graph .state,.service-graph .sign{font-weight:600;fill:var(--g-soft)}
.service-graph .is-healthy .state,.service-graph .is-healthy .sign{fill:var(--g-healthy)}
.service-graph .is-degraded .state,.service-graph .is-degraded .sign{fill:var(--g-degraded)}
.service-graph .is-critical .state,.service-graph .is-critical .sign{fill:var(--g-critical)}
.service-graph .is-degraded .box{fill:var(--g-degraded-fill);stroke:var(--g-degraded)}
.service-graph .is-critical .box{fill:var(--g-critical-fill);stroke:var(--g-critical);stroke-width:2}
.service-graph .is-unknown .box{stroke-dasharray:3 3}
.service-graph .document.is-unknown .box{stroke-dasharray:none}
.service-graph .badge rect{fill:var(--g-ink)}
.service-graph .badge text{fill:var(--g-paper);font-size:9.5px;font-weight:600}
""".replace("\n", "")


class Layout(NamedTuple):
    """Where the nodes of a scene stand; good for every scene of the same incident."""

    width: int
    height: int
    at: Mapping[str, tuple[float, float]]
    """The middle of a node's upper edge, by name."""


def layout(scene: Scene, width: int = 720) -> Layout:
    """Places for the nodes of a scene in a drawing of at most that width, in pixels."""
    names = [node.name for node in scene.nodes]
    links = [(a, b) for a, b, _ in scene.edges if a != b and a in names and b in names]
    layers = _ordered(_layers(names, links), links)
    across = max(1, (width - 2 * MARGIN + GAP) // (NODE_WIDTH + GAP))
    rows, tops, top = list[list[str]](), list[float](), float(MARGIN + 8)
    for layer in layers:
        count = -(-len(layer) // across)
        for k in range(count):
            rows.append(layer[k::count])
            tops.append(top)
            top += NODE_HEIGHT + (ROW_GAP if k + 1 < count else LAYER_GAP)
    middles = _spread(rows, links, width)
    left = min(middles.values(), default=0.0) - NODE_WIDTH / 2 - MARGIN
    right = max(middles.values(), default=0.0) + NODE_WIDTH / 2 + MARGIN
    at = {name: (middles[name] - left, y) for row, y in zip(rows, tops, strict=True) for name in row}
    return Layout(round(right - left), round(top - LAYER_GAP + MARGIN) if rows else 2 * MARGIN, at)


def svg(scene: Scene, width: int = 720, places: Layout | None = None) -> str:
    """The graph as one SVG element. `places` of an earlier scene of the same incident keep nodes where they were."""
    placed = places if places and all(node.name in places.at for node in scene.nodes) else layout(scene, width)
    parts = [_edge(edge, placed) for edge in scene.edges if edge.source in placed.at and edge.target in placed.at]
    parts += [_node(node, *placed.at[node.name]) for node in scene.nodes]
    inner = f"<style>{STYLE}</style>{''.join(parts)}"
    return (
        f'<svg class="service-graph" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {placed.width} {placed.height}" '
        f'style="max-width:{placed.width}px" role="img" aria-label="{escape(_aria_label(scene.nodes))}">{inner}</svg>'
    )


def _aria_label(nodes: Sequence[Node]) -> str:
    """The graph in words, for those who hear it."""
    return ", ".join([f"{node.name} {node.state}{f' ({node.mark})' if node.mark else ''}" for node in nodes])


# -- layers and their order ---------------------------------------------------------------------------


def _layers(names: Sequence[str], links: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Nodes by the length of the longest way to them; those without any link stand last, in a layer of their own."""
    depth = dict.fromkeys(names, 0)
    targets_of = _acyclic_links(names, links)
    for name in reversed([*TopologicalSorter(targets_of).static_order()]):
        for target in targets_of[name]:
            depth[target] = max(depth[target], depth[name] + 1)
    linked = {name for link in links for name in link}
    layers: dict[int, list[str]] = {}
    for name in names:
        place = depth[name] if name in linked or not linked else len(names)
        layers.setdefault(place, []).append(name)
    return [layers[place] for place in sorted(layers)]


def _acyclic_links(names: Sequence[str], links: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Targets by source; a link that would close a circle, met on the way down, is left out."""
    out: dict[str, list[str]] = {name: [] for name in names}
    kept: dict[str, list[str]] = {name: [] for name in names}
    for source, target in links:
        out[source].append(target)
    above, done = set[str](), set[str]()
    for start in names:
        way = [] if start in done else [(start, iter(out[start]))]
        above.update(name for name, _ in way)
        while way:
            name, targets = way[-1]
            below = next(targets, None)
            if below is None:
                way.pop()
                above.discard(name)
                done.add(name)
            elif below not in above:
                kept[name].append(below)
                if below not in done:
                    above.add(below)
                    way.append((below, iter(out[below])))
    return kept


def _ordered(layers: list[list[str]], links: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Each layer in the order of the middles of its neighbours, so that few links cross."""
    near = _neighbours(links)
    for sweep in range(SWEEPS):
        place = {name: (k + 0.5) / len(layer) for layer in layers for k, name in enumerate(layer)}
        chosen = range(1, len(layers)) if sweep % 2 == 0 else range(len(layers) - 2, -1, -1)
        for number in chosen:
            side = {name for layer in (layers[:number] if sweep % 2 == 0 else layers[number + 1 :]) for name in layer}
            middles = {name: _mean([place[n] for n in near[name] if n in side], place[name]) for name in layers[number]}
            layers[number] = sorted(layers[number], key=lambda name: middles[name])
            place |= {name: (k + 0.5) / len(layers[number]) for k, name in enumerate(layers[number])}
    return layers


def _neighbours(links: Sequence[tuple[str, str]]) -> "_NeighbourMap":
    near = _NeighbourMap()
    for source, target in links:
        near.setdefault(source, []).append(target)
        near.setdefault(target, []).append(source)
    return near


class _NeighbourMap(dict[str, list[str]]):
    """Neighbours by name; none of a node without links."""

    def __missing__(self, name: str) -> list[str]:
        return []


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _spread(rows: Sequence[Sequence[str]], links: Sequence[tuple[str, str]], width: int) -> dict[str, float]:
    """Middles of all nodes: near those of their neighbours, never closer than a node is wide."""
    near = _neighbours(links)
    x = {name: width * (k + 0.5) / len(row) for row in rows for k, name in enumerate(row)}
    for _ in range(SWEEPS):
        for row in rows:
            wanted = [0.5 * x[name] + 0.5 * _mean([x[n] for n in near[name]], x[name]) for name in row]
            x |= zip(row, _separate(wanted, width), strict=True)
    return x


def _separate(wanted: Sequence[float], width: int) -> list[float]:
    """Positions near those wanted, in their order, a node's width apart and within the drawing."""
    step, low, high = NODE_WIDTH + GAP, MARGIN + NODE_WIDTH / 2, width - MARGIN - NODE_WIDTH / 2
    rightward, leftward = list[float](), list[float]()
    for k, x in enumerate(wanted):
        rightward.append(min(max(x, rightward[-1] + step if k else low), high - step * (len(wanted) - 1 - k)))
    for k, x in enumerate(reversed(wanted)):
        leftward.append(max(min(x, leftward[-1] - step if k else high), low + step * (len(wanted) - 1 - k)))
    # Both keep their distances, so what lies half-way between them does, and leans to no side.
    return [(a + b) / 2 for a, b in zip(rightward, reversed(leftward), strict=True)]


# -- the drawing --------------------------------------------------------------------------------------


def visible(text: str) -> str:
    """A text without control characters, which no drawing may hold."""
    return "".join([letter if letter.isprintable() or letter == "\n" else " " for letter in text])


def escape(text: str) -> str:
    """A text as it stands in a drawing."""
    return html.escape(visible(text))


def _edge(edge: Edge, placed: Layout) -> str:
    (x1, y1), (x2, y2) = placed.at[edge.source], placed.at[edge.target]
    start, end = y1 + NODE_HEIGHT, y2
    bend = max(24.0, abs(end - start) / 2)
    need = "needs" if edge.critical else "can do without"
    path = f"M{x1:.0f} {start:.0f}C{x1:.0f} {start + bend:.0f} {x2:.0f} {end - bend:.0f} {x2:.0f} {end - 4:.0f}"
    ends = f'data-source="{escape(edge.source)}" data-target="{escape(edge.target)}"'
    return (
        f"<g {ends}><title>{escape(f'{edge.source} {need} {edge.target}')}</title>"
        f'<path class="edge{"" if edge.critical else " optional"}" d="{path}"/>'
        f'<path class="tip" d="M{x2 - 3.5:.1f} {end - 6:.0f}h7l-3.5 6z"/></g>'
    )


def _node(node: Node, x: float, y: float) -> str:
    left, first, second = x - NODE_WIDTH / 2, *visible_facts(node)
    name, icon = escape(truncate(node.name, NAME_LETTERS)), ICONS.get(node.kind, ICONS["service"])
    long, kind = " long" * (len(node.name) > LONG_NAME), " document" * (node.kind in DOCUMENTS)
    return (
        f'<g class="node is-{node.state}{kind}" data-name="{escape(node.name)}" '
        f'transform="translate({left:.1f} {y:.0f})">'
        f"<title>{escape(tooltip(node))}</title>"
        f'<rect class="box" width="{NODE_WIDTH}" height="{NODE_HEIGHT}" rx="7"/>'
        f'<path class="icon" transform="translate(8 7) scale(.875)" d="{icon}"/>'
        f'<text class="name{long}" x="27" y="18">{name}</text>'
        f'<text class="sign" x="9" y="36">{state_symbol(node)}</text>'
        f'<text class="state" x="22" y="36">{escape(state_label(node))}'
        f'</text><text class="fact" x="{NODE_WIDTH - 8}" y="36" text-anchor="end">{escape(first)}</text>'
        f'<text class="fact more" x="9" y="52">{escape(second)}</text>{_badge(node.mark)}</g>'
    )


def state_symbol(node: Node) -> str:
    """The sign of a node's state; none for a document that nobody has judged."""
    return "" if node.kind in DOCUMENTS and node.state == "unknown" else SIGNS[node.state]


def state_label(node: Node) -> str:
    """The word for a node's state; of a document nobody has judged, what became of it."""
    if node.kind in DOCUMENTS:
        return dict(node.facts).get("status", "")
    return node.state


def visible_facts(node: Node) -> tuple[str, str]:
    """What stands beside the state and below it."""
    if node.kind in DOCUMENTS:
        facts = [value if name == "title" else f"{name} {value}" for name, value in node.facts if name != "status"]
        return "", truncate(facts[0] if facts else "", FACT_LETTERS)
    values = [f"{name} {compact_value(value)}" for name, value in node.facts]
    first = compact_value(node.facts[0][1]) if node.facts else ""
    fits = len(first) <= FACT_LETTERS - len(node.state) - 4
    below = values[1:] if fits else values
    return first if fits else "", truncate(below[0] if below else "", FACT_LETTERS)


def compact_value(value: str) -> str:
    """A figure in as few letters as may be: what is usual in brackets, what was before left to the tooltip."""
    now, usually, usual = value.partition(", before ")[0].partition(", usually ")
    return (f"{now} ({usual})" if usually else now).replace(" -> ", "→")


def truncate(text: str, letters: int) -> str:
    """The beginning of a text, with an ellipsis where more follows."""
    return text if len(text) <= letters else text[: letters - 1].rstrip(" ,") + "…"


def tooltip(node: Node) -> str:
    """All that is known of a node, a line each."""
    head = f"{node.name} ({node.kind}): {node.state}" if node.kind not in DOCUMENTS else f"{node.name} ({node.kind})"
    facts = [f"{name}: {value}" if name else value for name, value in node.facts]
    return "\n".join([head, *facts, *([node.mark] if node.mark else [])])


def _badge(mark: str) -> str:
    """What the truth knows of a node, on its upper edge; an empty place where it knows nothing."""
    width = 6 * len(mark) + 12
    shown = "" if mark else ' visibility="hidden"'
    return (
        f'<g class="badge" transform="translate({NODE_WIDTH - 6} 0)"{shown}>'
        f'<rect x="{-width:.0f}" y="-10" width="{width:.0f}" height="15" rx="7.5"/>'
        f'<text x="{-width / 2:.0f}" y="1" text-anchor="middle">{escape(mark)}</text></g>'
    )
