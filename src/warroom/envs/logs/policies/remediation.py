"""After the conclusion: which remedy in which order, whether it helped, and when the incident may be closed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp
from typing import NamedTuple

from warroom.envs.logs.policies.diagnosis import Diagnosis, Suspect
from warroom.envs.logs.policies.system_view import SystemView
from warroom.envs.logs.views import LogsObservation, Pair

WARM_UP = {"restart": 2, "flush-cache": 2, "rollback": 1}
"""Minutes that a remedy leaves a service cold, so that users may still suffer."""
PAGED = {"security": 3}
"""Minutes that a team needs that fixes things by itself."""
REMAINING_SHARE, UNCHANGED_SHARE = 0.5, 0.8
"""Shares of the trouble: what may be left in a window that still holds bad minutes if the remedy was right, and what is
hardly less than before."""
EFFECT_DELAY = 2
"""Minutes after which the logs that were asked for just after a remedy can show what came of it."""
STEADY = 1.5
"""Standard errors within which a duration is as it was."""
NOISE_RISE_ERRORS, REMAINING_NOISE = 6.0, 0.3
"""Standard errors by which WARN and ERROR lines of the system must have risen for their fall to show that the fix
worked, and the share of the rise that may be left then."""
PLAUSIBLE = 4.5
"""Nats that a second remedy may be behind the first to be worth a try."""
CERTAIN = 4.0
"""Nats by which a remedy must lead for the incident to be closed without a look at what came of it."""

RemedyStep = tuple[str, str]
"""(remedy, service)."""


def steps(suspects: Sequence[Suspect]) -> list[RemedyStep]:
    """The best remedy for each root, then what else may help, the likeliest first."""
    first = [(suspect.remedy, suspect.service) for suspect in suspects if suspect.remedy]
    behind = {
        (remedy, suspect.service): suspect.remedies[suspect.remedy] - log_odds
        for suspect in suspects
        for remedy, log_odds in suspect.remedies.items()
        if remedy and remedy != suspect.remedy
    }
    return first + sorted([step for step in behind if behind[step] < PLAUSIBLE], key=lambda step: (behind[step], step))


def best_observer(system_view: SystemView, root: str) -> str:
    """Whose logs tell best whether a root is fixed: the caller with most calls of it, else the gateway."""
    reports = [(row.made.now, logs.service) for logs, row in system_view.rows[root] if not logs.behind]
    return max(reports, default=(0.0, system_view.gateway))[1]


class ServiceImpact(NamedTuple):
    """How bad a root is by those who call it."""

    failing: float
    """Share of its calls that fail beyond the usual; 0 where chance explains it."""
    slower: float
    """What its durations gained, as a share of the usual; 0 where wandering explains it."""

    def within(self, share: float, was: "ServiceImpact") -> bool:
        """Whether no more than a share of what was is left."""
        return self.failing <= share * was.failing and self.slower <= share * was.slower


def service_impact(system_view: SystemView, root: str) -> ServiceImpact:
    """The trouble of a root now."""
    fails, slows = (
        system_view.observed_failures(root) or system_view.reported_failures(root),
        system_view.latency_change(root),
    )
    failing = fails.share if fails is not None and fails.weight > 0 else 0.0
    gained = exp(slows.change) - 1 if slows is not None and slows.errors > STEADY else 0.0
    return ServiceImpact(failing, gained)


def noise_rise(pages: Sequence[LogsObservation]) -> tuple[float, float]:
    """(WARN and ERROR lines a minute beyond those before, their standard error), the mean of some pages."""
    counts = [(page.volume.warnings, page.volume.errors) for page in pages]
    pairs = [Pair(w.before + e.before, w.now + e.now) for w, e in counts if w is not None and e is not None]
    if not pairs:
        return 0.0, 1.0
    rise = sum(pair.now - pair.before for pair in pairs) / len(pairs)
    return rise, max(1.0, sum(map(sum, pairs))) ** 0.5 / len(pairs)


@dataclass
class RemediationPlan:
    """What was concluded, what was done about it, and what came of it."""

    diagnosis: Diagnosis
    system_view: SystemView
    """What was known at the conclusion."""
    noise_rise: tuple[float, float]
    """The rise of the noise before anything was done (see the function of that name)."""
    done: list[RemedyStep] = field(default_factory=list)
    observations_waited: int = 0
    """Pages since the last remedy, or since the conclusion where no remedy helps."""
    replies_read: int = 0
    """How many of them brought news of the root."""
    missed: RemedyStep | None = None
    """A remedy that was not carried out when it should have been."""

    def __post_init__(self) -> None:
        self.steps = steps(self.diagnosis.suspects)
        self.needed = sum(1 for suspect in self.diagnosis.suspects if suspect.remedy)
        """Steps that come first, one for each root that a remedy helps."""
        self.observers = {root: best_observer(self.system_view, root) for root in self.diagnosis.roots}
        self.service_impacts = {root: service_impact(self.system_view, root) for root in self.diagnosis.roots}

    def add_observation(self, page: LogsObservation) -> None:
        """One more page."""
        self.observations_waited += 1
        self.replies_read += page.reply is not None and getattr(page.reply, "service", "") in self.observers.values()

    def next_step(self, system_view: SystemView) -> RemedyStep | None:
        """The remedy that has to be tried now: one for each root, then another each time the last did not help."""
        tried = len(self.done)
        if tried < self.needed or (tried < len(self.steps) and self.needed and self._failed(system_view)):
            return self.steps[tried]
        return None

    def record_attempt(self, step: RemedyStep) -> None:
        """A remedy is being carried out."""
        self.done.append(step)
        self.observations_waited = self.replies_read = 0

    def undo_attempt(self) -> None:
        """The last remedy was not carried out after all; where this happens again, nothing can be changed there."""
        if not self.missed:
            self.missed = self.done.pop()

    def should_close(self, system_view: SystemView, page: LogsObservation) -> bool:
        """Whether the incident may be closed now."""
        if self.observations_waited <= self._settling_minutes():
            return False
        return page.turn >= page.budget or self._is_certain() or self._noise_fell(page) or self._recovered(system_view)

    def service_to_check(self) -> str:
        """Whose logs tell next: those who call the root, in turn."""
        names = list(dict.fromkeys(self.observers.values()))
        return names[self.observations_waited % len(names)]

    def _settling_minutes(self) -> int:
        """Minutes that the remedies, or those who were paged, have to be given."""
        given = [PAGED.get(suspect.team, 0) for suspect in self.diagnosis.suspects]
        return max([*given, *[WARM_UP.get(remedy, 0) for remedy, _ in self.done]])

    def _is_certain(self) -> bool:
        """Whether nothing but the remedies tried is likely, so that looking would only take time."""
        return self.needed > 0 and all(s.remedy_margin >= CERTAIN for s in self.diagnosis.suspects)

    def _noise_fell(self, page: LogsObservation) -> bool:
        (was, error), (now, _) = self.noise_rise, noise_rise([page])
        return was > NOISE_RISE_ERRORS * error and now < REMAINING_NOISE * was

    def _recovered(self, system_view: SystemView) -> bool:
        return self._at_most_left(system_view, REMAINING_SHARE)

    def _at_most_left(self, system_view: SystemView, share: float) -> bool:
        """Whether no more than a share of the trouble is left at any root, as far as was read since."""
        return self.replies_read > 0 and all(
            service_impact(system_view, root).within(share, was) for root, was in self.service_impacts.items()
        )

    def _failed(self, system_view: SystemView) -> bool:
        """Whether the last remedy had its time and did not help, plainly or after one more look."""
        late = self.observations_waited - EFFECT_DELAY - self._settling_minutes()
        return (
            self.replies_read > 0
            and late >= 0
            and not self._at_most_left(system_view, REMAINING_SHARE if late > 0 else UNCHANGED_SHARE)
        )
