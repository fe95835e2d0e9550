"""Whose logs to read next: those that can still change the conclusion."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from warroom.envs.logs.policies.diagnosis import Diagnosis, Suspect
from warroom.envs.logs.policies.picture import Picture

SURE = 0.93
"""Probability of the roots, or of calm, from which nobody else is read."""
RIVAL = 0.006
"""Probability from which a service is worth a look."""
PLAIN, PLAIN_TEAM = 2.5, 4.0
"""Nats by which a remedy, and a team, must lead not to be in doubt: a wrong team is worse than a wrong remedy."""
OPEN = 2.0
"""Nats from which a service is worth a look as one more root."""


@dataclass(frozen=True)
class Looked:
    """What was looked at so far."""

    looks: Mapping[str, int]
    """Times that each service was read."""
    silent: Set[str]
    """Services of which no logs arrive."""
    hurry: bool = False
    """Whether there is no time to look where nothing points."""
    late: bool = False
    """Whether there is no time for second looks."""

    def may(self, service: str) -> bool:
        """Whether a service is worth a first look."""
        return service not in self.silent and not self.looks.get(service)

    def may_again(self, service: str) -> bool:
        """Whether a service is worth a second look: it has new minutes in it."""
        return service not in self.silent and not self.late and self.looks.get(service, 0) < 2


def next_reading(picture: Picture, diagnosis: Diagnosis, looked: Looked) -> str | None:
    """The service to read next; None if the conclusion stands."""
    return next(_wishes(picture, diagnosis, looked), None)


def _wishes(picture: Picture, diagnosis: Diagnosis, looked: Looked) -> Iterator[str]:
    """Services worth reading, the most urgent first."""
    if looked.may(picture.gateway):
        yield picture.gateway
    for suspect in diagnosis.suspects:
        yield from _about(picture, suspect, looked)
    yield from _elsewhere(picture, diagnosis, looked)
    if diagnosis.confidence < SURE or not diagnosis.suspects:
        yield from _rivals(picture, diagnosis, looked)


def _about(picture: Picture, suspect: Suspect, looked: Looked) -> Iterator[str]:
    """The suspect itself, if its logs can tell anything more: of deeper trouble, or of what kind it is."""
    name, deep = suspect.service, bool(picture.catalogue.entry(suspect.service).calls)
    if not picture.rows[name]:
        yield from (caller for caller in picture.callers[name] if looked.may(caller))
    if looked.may(name) and (deep or suspect.lead < PLAIN):
        yield name
    if suspect.team_lead < PLAIN_TEAM and looked.may_again(name):
        yield name
    if suspect.lead < PLAIN and picture.grown(name) is None:
        yield from (each for each in _timers(picture, name) if not looked.may(each) and looked.may_again(each))


def _elsewhere(picture: Picture, diagnosis: Diagnosis, looked: Looked) -> Iterator[str]:
    """Where a second root may be: what is open, and, if there is time, whoever calls others and was not read."""
    ranked = sorted(diagnosis.rest, key=lambda name: (-diagnosis.rest[name], name))
    for name in ranked:
        if diagnosis.rest[name] >= OPEN:
            yield from (each for each in (name, *picture.callers[name]) if looked.may(each))
    if not looked.hurry:
        yield from (name for name in ranked if picture.catalogue.entry(name).calls and looked.may(name))


def _timers(picture: Picture, name: str) -> Iterator[str]:
    """Who can tell by a later look what creeps from what came at once: who waits for a service, else itself."""
    if not picture.gives_up(name):
        yield from (caller for caller in picture.callers[name] if caller != picture.gateway)
        yield from (caller for caller in picture.callers[name] if caller == picture.gateway)
    elif picture.takes(name) is not None:
        yield name


def _rivals(picture: Picture, diagnosis: Diagnosis, looked: Looked) -> Iterator[str]:
    """The likeliest that were not read, or whose callers were not; then once more those that were."""
    ranked = sorted(diagnosis.standing, key=lambda name: (-diagnosis.standing[name], name))
    for name in ranked:
        if diagnosis.standing[name] >= RIVAL:
            callers = [caller for caller in picture.callers[name] if looked.may(caller)]
            yield from callers if not picture.rows[name] else ()
            yield from (each for each in (name, *callers) if looked.may(each))
    if diagnosis.confidence < SURE:
        once_more = (*picture.callers[ranked[0]], ranked[0])
        yield from (name for name in once_more if looked.may_again(name))
