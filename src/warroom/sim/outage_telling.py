"""Which components write about an outage casting, in which words, and how often."""

from random import Random

from warroom.core.rng import stream
from warroom.core.splits import Split
from warroom.sim.counts import USERS
from warroom.sim.outage_casting import GROWS, OutageCasting, Routine, Story
from warroom.sim.outage_tiers import OutageTier
from warroom.sim.outages import CLIENT_ERRORS, OBJECT_OF, OWN_SIDE, Remedy
from warroom.sim.records import EVERYTHING
from warroom.sim.streams.component import FIRST_AND_SECOND, LineStream, StorySource, StreamGroup, line_stream
from warroom.sim.streams.outage_lines import OPERATOR, OutageLine, RECEIVED, lines_of, openings_of, wording_of
from warroom.sim.streams.template import GroupRole, group
from warroom.sim.symptoms import steady_groups
from warroom.sim.topology import ServiceSystem

CLIENT_ERROR_RATE = 0.04, 0.12
"""Bounds of the lines per request of a service that complains about its clients."""
OPENS_BEFORE = 3
"""Most minutes before its first request comes to harm at which an object is first written of."""
Groups = dict[int, list[StreamGroup]]


class Telling:
    """The lines of one incident beside what its components write on any day."""

    def __init__(self, system: ServiceSystem, casting: OutageCasting, tier: OutageTier, key: bytes, split: Split) -> None:
        self.system, self.casting, self.tier, self.split = system, casting, tier, group(split)
        self.rng = stream(int.from_bytes(key), "outage lines")
        self.groups: Groups = {i: [] for i in range(system.size)}
        for i in range(system.size):
            self.groups[i] += steady_groups(self.rng, system, i, tier.steady_rate, split)
        for story in casting.stories:
            self._tell(story)
        for routine in casting.routine:
            self._open(routine)
        if casting.client_errors is not None:
            self._complain(casting.client_errors)

    def _tell(self, story: Story) -> None:
        """The owner's lines, the opening, and what others write."""
        peer = self._peer(story)
        self._add(story.owner, story, story.outage, story.rate, peer)
        kind = OBJECT_OF.get(story.row.remedy or "")
        if kind:
            self._open(Routine(story.owner, kind, story.object, story.onset // 60 - self.rng.randint(0, OPENS_BEFORE)))
        if story.row.place == "callee":
            assert story.peer is not None
            self._add(story.site, story, f"{story.outage} {RECEIVED}", story.rate, self.system.names[story.owner])
        if story.row.place == "client" and story.hit:
            self._add(story.owner, story, OWN_SIDE, 1.0, peer)

    def _peer(self, story: Story) -> str:
        return "" if story.peer is None else self.system.names[self.system.links[story.peer][1]]

    def _add(self, writer: int, story: Story, name: str, rate: float, peer: str) -> None:
        wording = wording_of(self.split, name, self.system.kinds[writer])
        role: GroupRole = "harmed" if story.hit else "coped"
        lines = lines_of(wording.harmful if story.hit else wording.coped)
        origin = story.site if story.hit else writer
        ramp = GROWS if story.row.gradual else 0
        source = StorySource(story.id, origin, story.target, story.harm, story.share, -(-story.onset // 60), ramp)
        place = USERS if writer == story.site or story.peer is None else story.peer
        streams = self._two(lines, {"object": story.object, "peer": peer})
        self.groups[writer].append(StreamGroup(0, role, place, rate, streams, None, source))

    def _two(self, lines: tuple[OutageLine, ...], names: dict[str, str]) -> tuple[LineStream, ...]:
        chosen = self.rng.sample(lines, 2)
        return tuple([
            line_stream(line.level, line.text, share, names)
            for line, share in zip(chosen, FIRST_AND_SECOND, strict=True)
        ])  # fmt: skip

    def _open(self, routine: Routine) -> None:
        kind = self.system.kinds[routine.service]
        lines = lines_of(openings_of(self.split, routine.kind, kind))  # type: ignore[arg-type]
        one = lines[int(self.rng.random() * len(lines))]
        hosts = self.system.replicas[routine.service] if routine.kind == "build" else 1
        self.groups[routine.service].append(notice(one, routine.object, hosts, routine.minute))

    def _complain(self, service: int) -> None:
        least, most = CLIENT_ERROR_RATE
        lines = lines_of(wording_of(self.split, CLIENT_ERRORS, self.system.kinds[service]).coped)
        source = StorySource(0, service, EVERYTHING, "errors", 1.0, self.casting.page // 60 - 6, 0)
        rate = self.rng.uniform(least, most)
        self.groups[service].append(StreamGroup(0, "coped", USERS, rate, self._two(lines, {}), None, source))


def notice(line: OutageLine, named: str, number: int, minute: int) -> StreamGroup:
    """What is written so many times within a minute, and never again."""
    source = StorySource(0, 0, EVERYTHING, "errors", 0.0, minute, 0)
    streams = (line_stream(line.level, line.text, 1.0, {"object": named}),)
    return StreamGroup(0, "notice", USERS, float(number), streams, None, source)


def operator_lines(split: Split, remedy: Remedy, rng: Random) -> OutageLine:
    """What a service writes of a remedy."""
    lines = lines_of(OPERATOR[group(split)][remedy])
    return lines[int(rng.random() * len(lines))]
