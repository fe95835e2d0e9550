"""What a viewer shows of a run: its finished episodes, each played again for the scenes of its turns.

Everything is plain data for the page's script. What all episodes of one incident share (the graph, briefs, what the
oracle would have done) is there once.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warroom.core.env import Env
from warroom.core.errors import UnknownName
from warroom.core.scene import Edge, Node, Scene
from warroom.core.splits import SEEDS_PER_SPLIT, format_seed
from warroom.core.types import JsonObject, ToolCall
from warroom.envs import find, make
from warroom.episode import Episode
from warroom.runs import (
    EPISODES,
    Record,
    ReplayMismatch,
    check_has_episodes,
    describe_state,
    read_finished,
    read_record,
)
from warroom.view.debrief import incident_of, oracle_play
from warroom.view.graph import state_label, state_symbol, svg, tooltip, visible, visible_facts

TAGS = {
    "solved": ("solved", "not solved"),
    "rogue_catch": ("rogue caught", "rogue missed"),
    "rogue_false_positive": ("innocent flagged", ""),
    "declared_right": ("cause right", "cause wrong"),
    "root_cause": ("root right", "root wrong"),
    "severity": ("severity right", "severity wrong"),
    "team": ("team right", "team wrong"),
    "escalated_answerable": ("needless hand-over", ""),
    "escalated_unanswerable": ("handed over", "answered the unanswerable"),
}
"""What the list says of an outcome that is true, and of one that is false."""
GRAPH_WIDTH = 584
"""Pixels of a graph: it stands beside what the seat saw."""
COUNT_TAGS = {"wrong_fixes": "wrong fix", "wrong_remedies": "wrong remedy"}
"""What it says of a number above zero."""


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """Which episodes are wanted; an empty list takes all."""

    policies: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()

    def matches(self, episode: Episode) -> bool:
        """Whether an episode is wanted."""
        return all(
            not wanted or value in wanted
            for wanted, value in (
                (self.policies, episode.policy), (self.tiers, episode.tier), (self.scenarios, episode.scenario),
            )
        )  # fmt: skip


@dataclass(slots=True)
class RunEpisodes:
    """The finished episodes of a run folder."""

    folder: Path
    record: Record
    episodes: list[Episode]
    notes: list[str] = field(default_factory=list)
    """What is missing, for whoever looks."""


def read_run_episodes(folder: Path, episode_filter: EpisodeFilter) -> RunEpisodes:
    """The wanted episodes of a run, finished or not: what was cut is noted, not refused.

    A `ValueError` says that the folder has no episodes at all, or none that was wanted.
    """
    record = read_record(folder)
    check_has_episodes(folder, record)
    if not (folder / EPISODES).is_file():
        raise ValueError(f"{folder} has no {EPISODES}: no episode was finished; {describe_state(folder, record)}")
    notes = list[str]()
    found = list(read_finished(folder, notes))
    if not found:
        raise ValueError(f"{folder} has no finished episode yet: {describe_state(folder, record)}")
    if len(found) < record.planned:
        notes.append(
            f"{folder.name}: {len(found)} of {record.planned} planned episodes are finished; these are shown; "
            f"{describe_state(folder, record)}"
        )
    _check(episode_filter, found)
    wanted = [episode for episode in found if episode_filter.matches(episode)]
    if not wanted:
        raise ValueError(f"no episode of {folder} has that policy, tier and scenario together; ask for fewer")
    return RunEpisodes(folder, record, wanted, notes)


def _check(episode_filter: EpisodeFilter, found: Sequence[Episode]) -> None:
    """Refuse a filter that names what the run does not have."""
    for kind, wanted, known in (
        ("policy", episode_filter.policies, {e.policy for e in found}),
        ("tier", episode_filter.tiers, {e.tier for e in found}),
        ("scenario", episode_filter.scenarios, {e.scenario for e in found}),
    ):
        for name in wanted:
            if name not in known:
                raise UnknownName(f"{kind} of this run", name, sorted(known))


# -- the list ---------------------------------------------------------------------------------------


def row(episode: Episode, incident: int, run: int) -> JsonObject:
    """An episode as the list shows it."""
    return {
        "i": incident,
        "run": run,
        "scenario": episode.scenario.partition("/")[2],
        "tier": episode.tier,
        "seed": episode.seed % SEEDS_PER_SPLIT,
        "split": episode.split,
        "policy": episode.policy,
        "attempt": episode.attempt,
        "total": round(episode.total, 2),
        "score": round(episode.score, 3),
        "turns": episode.steps[-1].turn + 1 if episode.steps else 0,
        "tags": tags(episode),
    }


def tags(episode: Episode) -> list[str]:
    """What came of an episode, in words to filter by."""
    outcome = episode.outcome
    out = [TAGS[name][not outcome[name]] for name in TAGS if isinstance(outcome.get(name), bool)]
    out += [word for name, word in COUNT_TAGS.items() if outcome.get(name)]
    if any(step.refused for step in episode.steps):
        out.append("refused call")
    return [tag for tag in out if tag]


# -- one episode ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EpisodeData:
    """An episode as the page's script reads it, and one scene with every node that its drawing has to hold."""

    data: JsonObject
    union_scene: Scene | None


def episode_data(episode: Episode, scenes: bool) -> EpisodeData:
    """Steps, points, and with `scenes` what was true and what the acting seat knew, turn by turn."""
    data: JsonObject = {
        "steps": list(_steps(episode)), "points": episode.points, "total": round(episode.total, 2),
        "score": round(episode.score, 3), "outcome": episode.outcome, "truth": episode.truth,
    }  # fmt: skip
    if not scenes:
        return EpisodeData(data, None)
    env, true, known = replay_scenes(episode)
    data["true"] = [_compact(scene) for scene in true]
    data["known"] = [_compact(scene) for scene in known]
    data["counterfactual"] = env.counterfactual()
    return EpisodeData(data, union_scenes((*true, *known)))


def _steps(episode: Episode) -> Iterator[JsonObject]:
    """Calls in order; what only repeats what went before is left out."""
    before, points = "", dict[str, float]()
    for step in episode.steps:
        out: JsonObject = {"turn": step.turn, "seat": step.seat, "tool": step.tool, "args": step.arguments}
        if step.observation != before:
            out["shown"] = step.observation
        if step.message:
            out["message"] = step.message
        out["result"] = step.result
        gained = {name: round(value - points.get(name, 0.0), 3) for name, value in step.points.items()}
        out["points"] = {name: value for name, value in gained.items() if value}
        if step.refused:
            out["refused"] = 1
        before, points = step.result, step.points
        yield out


def replay_scenes(episode: Episode) -> tuple[Env, list[Scene], list[Scene]]:
    """Play an episode again: (the incident at its end, what was true in each turn and at the end, what the acting seat
    knew when it acted). A `ReplayMismatch` names the first step that goes another way."""
    env = make(incident_of(episode.spec))
    env.trace_observations()
    true, known = list[Scene](), list[Scene]()
    for number, step in enumerate(episode.steps):
        if env.done:
            raise _mismatch(episode, number, "the incident is over")
        shown = env.observe().render()
        if env.turn == len(true):
            true.append(env.scene())
            known.append(env.scene(env.seat))
        else:
            known[-1] = env.scene(env.seat)
        result = env.step(ToolCall(step.tool, step.arguments)).result.render()
        if (shown, result) != (step.observation, step.result):
            raise _mismatch(episode, number, "what the seat is shown or answered differs")
    if not env.done:
        raise _mismatch(episode, len(episode.steps), "the incident goes on")
    return env, [*true, env.scene()], known


def _mismatch(episode: Episode, number: int, why: str) -> ReplayMismatch:
    which = f"{episode.scenario} {episode.tier} {format_seed(episode.seed)} by {episode.policy}"
    return ReplayMismatch(
        f"{which} cannot be played again: at call {number} {why}, so another version of Warroom recorded it, or the "
        "file was changed; --no-scenes shows episodes without scenes"
    )


def _compact(scene: Scene) -> JsonObject:
    """A scene with its nodes already put into the words of the drawing."""
    nodes = {
        visible(n.name): [n.state, state_symbol(n), state_label(n), *visible_facts(n), n.mark, tooltip(n)]
        for n in scene.nodes
    }
    return {"clock": scene.clock, "nodes": nodes, "sections": [[s.title, s.lines] for s in scene.sections]}


# -- one incident -----------------------------------------------------------------------------------


def incident_data(episode: Episode, union_scene: Collection[Scene]) -> JsonObject:
    """What all plays of an incident share; the drawing holds every node that any of them has."""
    environment, scenario = find(incident_of(episode.spec).scenario)
    data: JsonObject = {
        "env": episode.env, "scenario": episode.scenario, "tier": episode.tier, "seed": episode.seed % SEEDS_PER_SPLIT,
        "split": episode.split, "story": scenario.story, "seats": environment.seats, "briefs": episode.briefs,
    }  # fmt: skip
    if union_scene:
        best = oracle_play(episode.spec)
        steps = [
            {"turn": step.turn, "seat": step.seat, "tool": step.tool, "args": step.arguments} for step in best.steps
        ]
        data["oracle"] = {"steps": steps, "total": best.total}
        data["svg"] = svg(union_scenes(union_scene), GRAPH_WIDTH) if any(scene.nodes for scene in union_scene) else ""
    return data


def union_scenes(scenes: Collection[Scene]) -> Scene:
    """One scene with every node and edge of all."""
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str], Edge] = {}
    for scene in scenes:
        for node in scene.nodes:
            nodes.setdefault(node.name, Node(node.name, node.kind))
        for edge in scene.edges:
            edges[edge.source, edge.target] = edge
    return Scene("", tuple(nodes.values()), tuple(edges.values()))
