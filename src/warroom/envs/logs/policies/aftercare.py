"""After the conclusion: which remedy in which order, whether it helped, and when the incident may be closed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp
from typing import NamedTuple

from warroom.envs.logs.policies.diagnosis import Diagnosis, Suspect
from warroom.envs.logs.policies.picture import Picture
from warroom.envs.logs.views import LogPage, Pair

WARM_UP = {"restart": 2, "flush-cache": 2, "rollback": 1}
"""Minutes that a remedy leaves a service cold, so that users may still suffer."""
PAGED = {"security": 3}
"""Minutes that a team needs that mends things by itself."""
LEFT, MOST_LEFT = 0.5, 0.8
"""Shares of the trouble: what may be left in a window that still holds bad minutes if the remedy was right, and what is
hardly less than before."""
SHOWS = 2
"""Minutes after which the logs that were asked for just after a remedy can show what came of it."""
STEADY = 1.5
"""Standard errors within which a duration is as it was."""
LOUD, HUSH = 6.0, 0.3
"""Standard errors by which WARN and ERROR lines of the system must have risen for their fall to tell of the cure, and
the share of the rise that may be left then."""
PLAUSIBLE = 4.5
"""Nats that a second remedy may be behind the first to be worth a try."""
CERTAIN = 4.0
"""Nats by which a remedy must lead for the incident to be closed without a look at what came of it."""

Step = tuple[str, str]
"""(remedy, service)."""


def steps(suspects: Sequence[Suspect]) -> list[Step]:
    """The best remedy for each root, then what else may help, the likeliest first."""
    first = [(suspect.remedy, suspect.service) for suspect in suspects if suspect.remedy]
    behind = {
        (remedy, suspect.service): suspect.remedies[suspect.remedy] - nats
        for suspect in suspects
        for remedy, nats in suspect.remedies.items()
        if remedy and remedy != suspect.remedy
    }
    return first + sorted([step for step in behind if behind[step] < PLAUSIBLE], key=lambda step: (behind[step], step))


def witness(picture: Picture, root: str) -> str:
    """Whose logs tell best whether a root is mended: the caller with most calls of it, else the gateway."""
    heard = [(row.made.now, logs.service) for logs, row in picture.rows[root] if not logs.behind]
    return max(heard, default=(0.0, picture.gateway))[1]


class Trouble(NamedTuple):
    """How bad a root is by those who call it."""

    failing: float
    """Share of its calls that fail beyond the usual; 0 where chance explains it."""
    slower: float
    """What its durations gained, as a share of the usual; 0 where wandering explains it."""

    def within(self, share: float, was: "Trouble") -> bool:
        """Whether no more than a share of what was is left."""
        return self.failing <= share * was.failing and self.slower <= share * was.slower


def trouble(picture: Picture, root: str) -> Trouble:
    """The trouble of a root now."""
    fails, slows = picture.refused(root) or picture.told(root), picture.duration(root)
    failing = fails.share if fails is not None and fails.weight > 0 else 0.0
    gained = exp(slows.change) - 1 if slows is not None and slows.errors > STEADY else 0.0
    return Trouble(failing, gained)


def din(pages: Sequence[LogPage]) -> tuple[float, float]:
    """(WARN and ERROR lines a minute beyond those before, their standard error), the mean of some pages."""
    counts = [(page.volume.warnings, page.volume.errors) for page in pages]
    pairs = [Pair(w.before + e.before, w.now + e.now) for w, e in counts if w is not None and e is not None]
    if not pairs:
        return 0.0, 1.0
    rise = sum(pair.now - pair.before for pair in pairs) / len(pairs)
    return rise, max(1.0, sum(map(sum, pairs))) ** 0.5 / len(pairs)


@dataclass
class Aftercare:
    """What was concluded, what was done about it, and what came of it."""

    diagnosis: Diagnosis
    picture: Picture
    """What was known at the conclusion."""
    din: tuple[float, float]
    """The din before anything was done (see `din`)."""
    done: list[Step] = field(default_factory=list)
    waited: int = 0
    """Pages since the last remedy, or since the conclusion where no remedy helps."""
    heard: int = 0
    """How many of them brought news of the root."""
    missed: Step | None = None
    """A remedy that was not carried out when it should have been."""

    def __post_init__(self) -> None:
        self.steps = steps(self.diagnosis.suspects)
        self.needed = sum(1 for suspect in self.diagnosis.suspects if suspect.remedy)
        """Steps that come first, one for each root that a remedy helps."""
        self.witnesses = {root: witness(self.picture, root) for root in self.diagnosis.roots}
        self.troubles = {root: trouble(self.picture, root) for root in self.diagnosis.roots}

    def take(self, page: LogPage) -> None:
        """One more page."""
        self.waited += 1
        self.heard += page.reply is not None and getattr(page.reply, "service", "") in self.witnesses.values()

    def due(self, picture: Picture) -> Step | None:
        """The remedy that has to be tried now: one for each root, then another each time the last did not help."""
        tried = len(self.done)
        if tried < self.needed or (tried < len(self.steps) and self.needed and self._in_vain(picture)):
            return self.steps[tried]
        return None

    def tries(self, step: Step) -> None:
        """A remedy is being carried out."""
        self.done.append(step)
        self.waited = self.heard = 0

    def takes_back(self) -> None:
        """The last remedy was not carried out after all; where this happens again, nothing can be changed there."""
        if not self.missed:
            self.missed = self.done.pop()

    def closes(self, picture: Picture, page: LogPage) -> bool:
        """Whether the incident may be closed now."""
        if self.waited <= self._cold():
            return False
        return page.turn >= page.budget or self._sure() or self._quieter(page) or self._better(picture)

    def look(self) -> str:
        """Whose logs tell next: those who call the root, in turn."""
        names = list(dict.fromkeys(self.witnesses.values()))
        return names[self.waited % len(names)]

    def _cold(self) -> int:
        """Minutes that the remedies, or those who were paged, have to be given."""
        given = [PAGED.get(suspect.team, 0) for suspect in self.diagnosis.suspects]
        return max([*given, *[WARM_UP.get(remedy, 0) for remedy, _ in self.done]])

    def _sure(self) -> bool:
        """Whether nothing but the remedies tried is likely, so that looking would only take time."""
        return self.needed > 0 and all(s.lead >= CERTAIN for s in self.diagnosis.suspects)

    def _quieter(self, page: LogPage) -> bool:
        (was, error), (now, _) = self.din, din([page])
        return was > LOUD * error and now < HUSH * was

    def _better(self, picture: Picture) -> bool:
        return self._left(picture, LEFT)

    def _left(self, picture: Picture, share: float) -> bool:
        """Whether no more than a share of the trouble is left at any root, as far as was heard since."""
        return self.heard > 0 and all(trouble(picture, root).within(share, was) for root, was in self.troubles.items())

    def _in_vain(self, picture: Picture) -> bool:
        """Whether the last remedy had its time and did not help, plainly or after one more look."""
        late = self.waited - SHOWS - self._cold()
        return self.heard > 0 and late >= 0 and not self._left(picture, LEFT if late > 0 else MOST_LEFT)
