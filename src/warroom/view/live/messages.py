"""What the server tells a page about a game that goes on. Nothing here knows the truth before the end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from warroom.core.scene import STATES, Node, Scene, Section
from warroom.core.types import JsonObject
from warroom.view.live.form import ToolForm


class Phase(StrEnum):
    """What a game waits for."""

    PERSON = "person"
    """A person's call."""
    PAUSED = "paused"
    """Somebody who lets the policies move."""
    PLAYING = "playing"
    """A policy, which moves by itself."""
    THINKING = "thinking"
    """A model, which is writing."""
    UNAVAILABLE = "unavailable"
    """A policy that cannot play; nothing moves in its place."""
    OVER = "over"
    LOBBY = "lobby"
    """Others, who have not taken their seats in a shared incident."""
    WAITING = "waiting"
    """Another seat of a shared incident."""
    STOPPED = "stopped"
    """Nothing: the host of a shared incident ended it."""


@dataclass(frozen=True)
class SeatPlayer:
    """Who plays a seat."""

    seat: str
    player: str
    """The name of a policy, or `person`."""
    reason: str = ""
    """Why its policy cannot play; empty if it can."""


@dataclass(frozen=True)
class Origin:
    """Where a game was branched off."""

    source: str
    """The id of a game, or of an episode of the run that is served."""
    at: int
    """Calls that were kept."""


@dataclass(frozen=True)
class CallEntry:
    """One call, as far as the viewer may see it."""

    n: int
    """Its number in the game, from 1."""
    turn: int
    seat: str
    tool: str
    arguments: JsonObject
    result: str
    message: str
    """What a model wrote beside the call."""
    refused: bool
    ends_turn: bool
    points: float | None
    """Points that it gained; None until the game is over."""


@dataclass(frozen=True)
class SeatForm:
    """What a person at a seat reads and can do now."""

    seat: str
    text: str
    reads_left: int | None
    """Readings that the seat may still make in this turn; None where only a host knows."""
    reads_per_turn: int | None
    tools: tuple[ToolForm, ...]


@dataclass(frozen=True)
class GameResult:
    """What came of a game."""

    total: float | None
    """Points; None where only a host knows."""
    score: float
    """0 is the no-op policy, 1 the oracle."""


@dataclass(frozen=True)
class GameView:
    """A game as one viewer may see it now."""

    id: str
    env: str
    name: str
    """What it is called: its scenario in words, or that it is a surprise."""
    scenario: str | None
    """None while it is a surprise."""
    tier: str
    split: str
    index: int | None
    budget: int
    turn: int
    calls: int
    """Made so far, by all seats."""
    phase: Phase
    acting: str
    """The seat whose turn it is; empty after the end."""
    pace: float
    """Seconds between two calls of policies."""
    seats: tuple[SeatPlayer, ...]
    branched_from: Origin | None
    viewer: str | None
    """The person's seat through whose eyes this is; None: all seats, without the truth before the end."""
    briefs: Mapping[str, str]
    """What the seats were told at first that the viewer sees, by seat."""
    scene: JsonObject
    log: tuple[CallEntry, ...]
    """Calls that the viewer may see, after those that it has seen."""
    seat: SeatForm | None
    """What a person can do now; None where it waits for somebody else."""
    result: GameResult | None
    note: str = ""
    """What the viewer has to know besides, in a sentence."""


def scene_message(scene: Scene) -> JsonObject:
    """What a viewer knows of the incident. What only the truth knows of a node is left out."""
    return {
        "clock": scene.clock,
        "nodes": [
            {"name": n.name, "kind": n.kind, "state": n.state, "facts": [*map(list, n.facts)]} for n in scene.nodes
        ],
        "edges": [{"source": e.source, "target": e.target, "critical": e.critical} for e in scene.edges],
        "sections": [{"title": section.title, "lines": list(section.lines)} for section in scene.sections],
    }


def merge_scenes(scenes: Sequence[Scene]) -> Scene:
    """What several seats know between them: of each part the worst that is known, of each section the longest."""
    nodes, sections = dict[str, Node](), dict[str, Section]()
    for scene in scenes:
        for node in scene.nodes:
            nodes[node.name] = max(nodes.get(node.name, node), node, key=_knowledge)
        for section in scene.sections:
            sections[section.title] = max(sections.get(section.title, section), section, key=lambda s: len(s.lines))
    edges = tuple(dict.fromkeys(edge for scene in scenes for edge in scene.edges))
    clock = max((scene.clock for scene in scenes), key=len)
    return Scene(clock, tuple(nodes.values()), edges, tuple(sections.values()))


def _knowledge(node: Node) -> tuple[int, int]:
    return STATES.index(node.state), len(node.facts)
