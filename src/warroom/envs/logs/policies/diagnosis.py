"""From logs to a conclusion: who is at fault, of what, what helps, whom to page, how bad, how sure, and why."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

from warroom.envs.logs.policies.causes import LogsCause, RankedCause, rank_causes
from warroom.envs.logs.policies.evidence import evidence
from warroom.envs.logs.policies.scoring import posterior_of, score, scores, unexplained_evidence
from warroom.envs.logs.policies.system_view import SystemView
from warroom.envs.logs.views import RULE, Catalogue, Dashboard, Overview, ServiceLogs

CALM = 4.5
"""Nats that the best suspect must have before anything counts as wrong: with a dozen services, chance earns a few."""
SECOND = 5.5
"""Nats that a second root must have from signs that the first does not explain."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """One root, with the causes that it may have. An empty team is the owner, an empty remedy is to wait."""

    service: str
    log_odds: float
    causes: tuple[RankedCause, ...]
    """The best first."""

    @property
    def teams(self) -> dict[str, float]:
        """Who may have to be paged, with the nats of all such causes together, the best first."""
        return _together(self.causes, lambda cause: cause.team)

    @property
    def team(self) -> str:
        """Who most likely has to be paged."""
        return next(iter(self.teams))

    @property
    def remedies(self) -> dict[str, float]:
        """What may help if that team is right, with the nats of all such causes together, the best first."""
        paged = [ranked for ranked in self.causes if ranked.cause.team == self.team]
        return _together(paged, lambda cause: cause.remedy)

    @property
    def remedy(self) -> str:
        """What most likely helps."""
        return next(iter(self.remedies))

    @property
    def cause(self) -> LogsCause:
        """The best cause with that team and remedy."""
        return next(c for _, c in self.causes if (c.team, c.remedy) == (self.team, self.remedy))

    @property
    def remedy_margin(self) -> float:
        """Nats by which the best remedy leads the next."""
        return _margin(self.remedies)

    @property
    def team_margin(self) -> float:
        """Nats by which the best team leads the next."""
        return _margin(self.teams)


def _together(causes: Sequence[RankedCause], by: Callable[[LogsCause], str]) -> dict[str, float]:
    """Nats of the causes that have something in common, summed as probabilities, the most first."""
    sums: dict[str, float] = {}
    for log_odds, cause in causes:
        sums[by(cause)] = sums.get(by(cause), 0.0) + exp(log_odds)
    return {name: log(sums[name]) for name in sorted(sums, key=lambda name: (-sums[name], name))}


def _margin(log_odds: Mapping[str, float]) -> float:
    first, *others = log_odds.values()
    return first - others[0] if others else float("inf")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A conclusion. Without roots nothing is wrong."""

    suspects: tuple[Suspect, ...]
    """The roots, the surest first."""
    teams: tuple[str, ...]
    """Who has to be paged, in the order of the roots, none twice."""
    severity: str
    confidence: float
    """Probability that the first root is right, or that nothing is wrong if there is none: 0 to 1, 0 if nothing was
    read."""
    evidence: tuple[str, ...]
    """Sentences that quote the figures, root by root."""
    posterior: Mapping[str, float]
    """Probability of each service as the first root."""
    rest: Mapping[str, float]
    """Nats of other services as one more root, from signs that the first does not explain."""

    @property
    def roots(self) -> tuple[str, ...]:
        """The services at fault."""
        return tuple(suspect.service for suspect in self.suspects)

    @property
    def cause(self) -> str:
        """What the first root suffers from."""
        return self.suspects[0].cause.name if self.suspects else "nothing"

    @property
    def remedy(self) -> str:
        """What helps the first root; empty if one has to wait, or nothing is wrong."""
        return self.suspects[0].remedy if self.suspects else ""

    @property
    def team(self) -> str:
        """Who has to be paged for the first root; empty if nothing is wrong."""
        return self.teams[0] if self.teams else ""


def conclude(
    catalogue: Catalogue,
    readings: Mapping[str, ServiceLogs],
    overview: Overview | None = None,
    earlier: Mapping[str, ServiceLogs] | None = None,
) -> Diagnosis:
    """What the logs read so far amount to; the more was read, the surer.

    `overview` adds who is loud, which weighs nothing, and the metrics of a recording, which do. `earlier` holds what
    some of the services said some minutes before.
    """
    system_view = system_view_of(catalogue, readings, overview, earlier)
    scored = scores(system_view)
    first = max(scored, key=lambda name: scored[name])
    wrong = scored[first] >= CALM
    rest = second_root_scores(system_view, first) if wrong else {}
    second = max(rest, key=lambda name: rest[name], default=first)
    roots = {first: scored[first]} if wrong else {}
    roots |= {second: rest[second]} if rest.get(second, 0.0) >= SECOND else {}
    posterior = posterior_of(scored, calm=CALM)
    sure = posterior[first] if wrong else 1.0 - sum(posterior.values())
    suspects = tuple(Suspect(name, log_odds, tuple(rank_causes(system_view, name))) for name, log_odds in roots.items())
    return Diagnosis(
        suspects=suspects,
        teams=tuple(dict.fromkeys(s.team or catalogue.entry(s.service).team for s in suspects)),
        severity=severity(system_view),
        confidence=sure if any(system_view.has_logs(name) for name in catalogue.names) else 0.0,
        evidence=evidence(system_view, list(roots), overview),
        posterior=posterior,
        rest={name: log_odds for name, log_odds in rest.items() if name not in roots},
    )


def system_view_of(
    catalogue: Catalogue,
    readings: Mapping[str, ServiceLogs],
    overview: Overview | None = None,
    earlier: Mapping[str, ServiceLogs] | None = None,
) -> SystemView:
    """All that was read, by the service that it speaks of."""
    gauges = dict(overview.gauges) if isinstance(overview, Dashboard) else {}
    return SystemView(catalogue, readings, earlier or {}, gauges)


def second_root_scores(system_view: SystemView, first: str) -> dict[str, float]:
    """Nats for each service as a root beside the first, from signs that the first does not explain."""
    explained = system_view.affected_callers[first] | {first}
    return {
        name: unexplained_evidence(system_view, name) if name in explained else score(system_view, name, explained)
        for name in system_view.catalogue.names
        if name != first and first not in system_view.transitive_callers[name]
    }


def severity(system_view: SystemView) -> str:
    """By the rule, from the first look at the gateway; the middle where it was not read."""
    logs = system_view.earlier.get(system_view.gateway) or system_view.readings.get(system_view.gateway)
    if logs is None or not logs.handled or logs.failed is None:
        return "P2"
    slower = logs.median.now / logs.median.before if logs.median is not None and logs.median.before > 0 else 1.0
    return RULE.severity(logs.failed.now / max(1.0, logs.handled.now), slower)
