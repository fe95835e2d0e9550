"""A run as the page shows it: the landing page, search, and each episode by its id."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from warroom.core.errors import UnknownName
from warroom.core.salt import committed_salt
from warroom.core.splits import SEEDS_PER_SPLIT
from warroom.episode import Episode
from warroom.runs import (
    EPISODES,
    REPORT,
    Record,
    check_has_episodes,
    describe_state,
    episode_id,
    read_finished,
    read_record,
)
from warroom.view.contract import CONTRACT, PageRow, PageRunHead, PageRunIndex, PageSearchIndex
from warroom.view.contract_json import packed, to_json
from warroom.view.search import search_index, words_of
from warroom.view.story import EpisodeStory, episode_story, recorded_story
from warroom.view.story_cache import KeptStory, key_of_story, read_cache, write_cache


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
                raise UnknownName(kind, name, sorted(known), "in this run")


def read_drawn_episodes(folder: Path, choice: EpisodeFilter, salt_file: Path | None) -> RunEpisodes:
    """The episodes of a run as they can be played again: a run under a salt needs the file of it.

    A `ValueError` says that the file is missing, is not wanted, or is not what was committed to.
    """
    source = read_run_episodes(folder, choice)
    salt = committed_salt(salt_file, source.record.config.get("salt"), folder)
    if salt is None:
        return source
    return replace(source, episodes=[replace(one, spec=salt.apply(one.spec)) for one in source.episodes])


class RunData:
    """The episodes of one run or several. Stories are worked out as they are asked for, and kept in the folders."""

    def __init__(self, sources: Sequence[RunEpisodes], *, replay: bool = True, page_folder: Path | None = None) -> None:
        """Without `replay` episodes are shown as they were recorded. `page_folder` is where the page will lie, whose
        report it links."""
        self.sources, self.replay, self.page_folder = sources, replay, page_folder
        self._kept = {source.folder: read_cache(source.folder) for source in sources}
        self._entries: dict[str, KeptStory] = {}
        self._incidents: dict[str, str] = {}
        """Packed, by id."""
        self._played: dict[str, tuple[int, Episode]] = {}
        for run, source in enumerate(sources):
            for played in source.episodes:
                self._played[episode_id(played.spec, played.policy, run)] = run, played

    @classmethod
    def open(cls, folder: Path, *, replay: bool = True, salt_file: Path | None = None) -> "RunData":
        """All finished episodes of one run folder, with the salt that they were drawn under, if any."""
        return cls([read_drawn_episodes(folder, EpisodeFilter(), salt_file)], replay=replay)

    @property
    def ids(self) -> list[str]:
        """Ids of the episodes, in the order of the landing page."""
        return list(self._played)

    def episode(self, id: str) -> Episode:
        """An episode as it was recorded; a `KeyError` if there is none of that id."""
        return self._played[id][1]

    def story(self, id: str) -> EpisodeStory:
        """An episode's story; a `ReplayMismatch` if it cannot be played again."""
        played = self.episode(id)
        return episode_story(played, id) if self.replay else recorded_story(played, id)

    def entry(self, id: str) -> KeptStory:
        """An episode, packed: from the folder if it is kept there, else worked out."""
        found = self._entries.get(id)
        if found is None:
            run, played = self._played[id]
            key = key_of_story(played, self.replay)
            found = self._kept[self.sources[run].folder].get(key)
            if found is None or found.row["id"] != id:
                story = self.story(id)
                row = row_of(played, story, id, run)
                words = " ".join(sorted(words_of(story.episode, story.incident.article)))
                name = story.incident.id
                self._incidents[name] = self._incidents.get(name) or packed(story.incident)
                found = KeptStory(key, to_json(row), self._incidents[name], packed(story.episode), words)
            self._entries[id] = found
        return found

    def load(self, progress: Callable[[int], None] = lambda count: None) -> list[KeptStory]:
        """All entries, worked out and kept; `progress` is told of each."""
        for id in self.ids:
            self.entry(id)
            progress(1)
        for run, source in enumerate(self.sources):
            mine = [entry for id, entry in self._entries.items() if self._played[id][0] == run]
            kept = self._kept[source.folder]
            if any(entry.key not in kept for entry in mine):
                write_cache(source.folder, list({**kept, **{entry.key: entry for entry in mine}}.values()))
        return [self._entries[id] for id in self.ids]

    def index(self) -> PageRunIndex:
        """The landing page."""
        rows = tuple([PageRow(**self.entry(id).row) for id in self.ids])
        notes = tuple([note for source in self.sources for note in source.notes])
        return PageRunIndex(CONTRACT, tuple([self._head(source) for source in self.sources]), notes, rows)

    def search(self) -> PageSearchIndex:
        """Every word that was said or shown."""
        return search_index([self.entry(id).words.split() for id in self.ids])

    def _head(self, source: RunEpisodes) -> PageRunHead:
        names = [one.folder.resolve().name for one in self.sources]
        name = source.folder.resolve().name if len(set(names)) == len(names) else str(source.folder)
        here = self.page_folder == source.folder and (source.folder / REPORT).is_file()
        return PageRunHead(
            name, source.record.command, source.record.warroom, source.record.started, REPORT if here else None
        )


def row_of(played: Episode, story: EpisodeStory, id: str, run: int) -> PageRow:
    """An episode on the landing page."""
    truth = story.episode.truth
    assert truth is not None
    outcome, rogues = played.outcome, played.truth.get("rogues") or {}
    flags = {str(s.arguments.get("agent")): s.arguments.get("ground") for s in reversed(played.steps)
             if s.tool == "flag" and not s.refused}  # fmt: skip
    caught = [agent for agent in rogues if agent in flags]
    grades = [mark.grade for mark in truth.marks] if any(mark.value is not None for mark in truth.marks) else None
    return PageRow(
        id=id,
        incident=story.incident.id,
        name=story.incident.name,
        run=run,
        policy=played.policy,
        attempt=played.attempt,
        env=story.incident.env,
        scenario=played.scenario,
        title=truth.title,
        tier=played.tier,
        split=played.split,
        seed=played.seed % SEEDS_PER_SPLIT,
        turns=len(story.episode.turns),
        total=truth.total,
        score=truth.score,
        solved=bool(outcome.get("solved")),
        caught=len(caught) == len(rogues) if rogues else None,
        ground=all(flags.get(agent) == ground for agent, ground in rogues.items()) if rogues else None,
        innocents=len([agent for agent in flags if agent not in rogues]),
        blunders=None if grades is None else grades.count("blunder"),
        mistakes=None if grades is None else grades.count("mistake"),
        safe=truth.verdict.safe,
        verdict=truth.verdict.full,
        points={name: round(points, 2) for name, points in played.points.items()},
    )
