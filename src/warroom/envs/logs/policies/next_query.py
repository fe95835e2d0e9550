"""Whose logs to read next: those that can still change the conclusion."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from warroom.envs.logs.policies.diagnosis import Diagnosis, Suspect
from warroom.envs.logs.policies.system_view import SystemView

SURE_PROBABILITY = 0.93
"""Probability of the roots, or of calm, from which no other service is read."""
RIVAL_PROBABILITY = 0.006
"""Probability from which a service is worth a look."""
CLEAR_MARGIN, CLEAR_TEAM_MARGIN = 2.5, 4.0
"""Nats by which a remedy, and a team, must lead not to be in doubt: a wrong team is worse than a wrong remedy."""
SECOND_ROOT_LOG_ODDS = 2.0
"""Nats from which a service is worth a look as one more root."""


@dataclass(frozen=True)
class QueryHistory:
    """What was looked at so far."""

    query_counts: Mapping[str, int]
    """Times that each service was read."""
    silent: Set[str]
    """Services of which no logs arrive."""
    short_of_time: bool = False
    """Whether there is no time to look where nothing points."""
    late: bool = False
    """Whether there is no time for second looks."""

    def may_query(self, service: str) -> bool:
        """Whether a service is worth a first look."""
        return service not in self.silent and not self.query_counts.get(service)

    def may_query_again(self, service: str) -> bool:
        """Whether a service is worth a second look: it has new minutes in it."""
        return service not in self.silent and not self.late and self.query_counts.get(service, 0) < 2


def next_query(system_view: SystemView, diagnosis: Diagnosis, history: QueryHistory) -> str | None:
    """The service to read next; None if the conclusion stands."""
    return next(_candidates(system_view, diagnosis, history), None)


def _candidates(system_view: SystemView, diagnosis: Diagnosis, history: QueryHistory) -> Iterator[str]:
    """Services worth reading, the most urgent first."""
    if history.may_query(system_view.gateway):
        yield system_view.gateway
    for suspect in diagnosis.suspects:
        yield from _about_suspect(system_view, suspect, history)
    yield from _second_root(system_view, diagnosis, history)
    if diagnosis.confidence < SURE_PROBABILITY or not diagnosis.suspects:
        yield from _rivals(system_view, diagnosis, history)


def _about_suspect(system_view: SystemView, suspect: Suspect, history: QueryHistory) -> Iterator[str]:
    """The suspect itself, if its logs can tell anything more: of deeper trouble, or of what kind it is."""
    name, deep = suspect.service, bool(system_view.catalogue.entry(suspect.service).calls)
    if not system_view.rows[name]:
        yield from (caller for caller in system_view.callers[name] if history.may_query(caller))
    if history.may_query(name) and (deep or suspect.remedy_margin < CLEAR_MARGIN):
        yield name
    if suspect.team_margin < CLEAR_TEAM_MARGIN and history.may_query_again(name):
        yield name
    if suspect.remedy_margin < CLEAR_MARGIN and system_view.latency_growth(name) is None:
        yield from (
            each
            for each in _latency_observers(system_view, name)
            if not history.may_query(each) and history.may_query_again(each)
        )


def _second_root(system_view: SystemView, diagnosis: Diagnosis, history: QueryHistory) -> Iterator[str]:
    """Where a second root may be: what is open, and, if there is time, callers that were not read."""
    ranked = sorted(diagnosis.rest, key=lambda name: (-diagnosis.rest[name], name))
    for name in ranked:
        if diagnosis.rest[name] >= SECOND_ROOT_LOG_ODDS:
            yield from (each for each in (name, *system_view.callers[name]) if history.may_query(each))
    if not history.short_of_time:
        yield from (name for name in ranked if system_view.catalogue.entry(name).calls and history.may_query(name))


def _latency_observers(system_view: SystemView, name: str) -> Iterator[str]:
    """Who can tell by a later look what creeps from what came at once: who waits for a service, else itself."""
    if not system_view.callers_time_out(name):
        yield from (caller for caller in system_view.callers[name] if caller != system_view.gateway)
        yield from (caller for caller in system_view.callers[name] if caller == system_view.gateway)
    elif system_view.reported_latency(name) is not None:
        yield name


def _rivals(system_view: SystemView, diagnosis: Diagnosis, history: QueryHistory) -> Iterator[str]:
    """The likeliest that were not read, or whose callers were not; then once more those that were."""
    ranked = sorted(diagnosis.posterior, key=lambda name: (-diagnosis.posterior[name], name))
    for name in ranked:
        if diagnosis.posterior[name] >= RIVAL_PROBABILITY:
            callers = [caller for caller in system_view.callers[name] if history.may_query(caller)]
            yield from callers if not system_view.rows[name] else ()
            yield from (each for each in (name, *callers) if history.may_query(each))
    if diagnosis.confidence < SURE_PROBABILITY:
        once_more = (*system_view.callers[ranked[0]], ranked[0])
        yield from (name for name in once_more if history.may_query_again(name))
