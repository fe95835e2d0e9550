"""From logs to a conclusion: who is at fault, of what, what helps, whom to page, how bad, how sure, and why."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

from warroom.envs.logs.policies.causes import Cause, Ranked, ranking
from warroom.envs.logs.policies.evidence import evidence
from warroom.envs.logs.policies.picture import Picture
from warroom.envs.logs.policies.suspects import own, score, scores, shares
from warroom.envs.logs.views import RULE, Catalogue, Dashboard, Overview, ServiceLogs

CALM = 4.5
"""Nats that the best suspect must have before anything counts as wrong: with a dozen services, chance earns a few."""
SECOND = 5.5
"""Nats that a second root must have from signs that the first does not explain."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """One root, with the causes that it may have. An empty team is the owner, an empty remedy is to wait."""

    service: str
    nats: float
    causes: tuple[Ranked, ...]
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
    def cause(self) -> Cause:
        """The best cause with that team and remedy."""
        return next(c for _, c in self.causes if (c.team, c.remedy) == (self.team, self.remedy))

    @property
    def lead(self) -> float:
        """Nats by which the best remedy leads the next."""
        return _lead(self.remedies)

    @property
    def team_lead(self) -> float:
        """Nats by which the best team leads the next."""
        return _lead(self.teams)


def _together(causes: Sequence[Ranked], by: Callable[[Cause], str]) -> dict[str, float]:
    """Nats of the causes that have something in common, summed as probabilities, the most first."""
    sums: dict[str, float] = {}
    for nats, cause in causes:
        sums[by(cause)] = sums.get(by(cause), 0.0) + exp(nats)
    return {name: log(sums[name]) for name in sorted(sums, key=lambda name: (-sums[name], name))}


def _lead(nats: Mapping[str, float]) -> float:
    first, *others = nats.values()
    return first - others[0] if others else float("inf")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A conclusion. Without roots nothing is wrong."""

    suspects: tuple[Suspect, ...]
    """The roots, the surest first."""
    teams: tuple[str, ...]
    """Who has to be paged, in the order of the roots, nobody twice."""
    severity: str
    confidence: float
    """Probability that the first root is right, or that nothing is wrong if there is none: 0 to 1, 0 if nothing was
    read."""
    evidence: tuple[str, ...]
    """Sentences that quote the figures, root by root."""
    standing: Mapping[str, float]
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
    picture = picture_of(catalogue, readings, overview, earlier)
    scored = scores(picture)
    first = max(scored, key=lambda name: scored[name])
    wrong = scored[first] >= CALM
    rest = remaining(picture, first) if wrong else {}
    second = max(rest, key=lambda name: rest[name], default=first)
    roots = {first: scored[first]} if wrong else {}
    roots |= {second: rest[second]} if rest.get(second, 0.0) >= SECOND else {}
    standing = shares(scored, calm=CALM)
    sure = standing[first] if wrong else 1.0 - sum(standing.values())
    suspects = tuple(Suspect(name, nats, tuple(ranking(picture, name))) for name, nats in roots.items())
    return Diagnosis(
        suspects=suspects,
        teams=tuple(dict.fromkeys(s.team or catalogue.entry(s.service).team for s in suspects)),
        severity=severity(picture),
        confidence=sure if any(picture.heard(name) for name in catalogue.names) else 0.0,
        evidence=evidence(picture, list(roots), overview),
        standing=standing,
        rest={name: nats for name, nats in rest.items() if name not in roots},
    )


def picture_of(
    catalogue: Catalogue,
    readings: Mapping[str, ServiceLogs],
    overview: Overview | None = None,
    earlier: Mapping[str, ServiceLogs] | None = None,
) -> Picture:
    """All that was read, by the service that it speaks of."""
    gauges = dict(overview.gauges) if isinstance(overview, Dashboard) else {}
    return Picture(catalogue, readings, earlier or {}, gauges)


def remaining(picture: Picture, first: str) -> dict[str, float]:
    """Nats for each service as a root beside the first, from signs that the first does not explain."""
    explained = picture.reach[first] | {first}
    return {
        name: own(picture, name) if name in explained else score(picture, name, explained)
        for name in picture.catalogue.names
        if name != first and first not in picture.above[name]
    }


def severity(picture: Picture) -> str:
    """By the rule, from the first look at the gateway; the middle where it was not read."""
    logs = picture.earlier.get(picture.gateway) or picture.readings.get(picture.gateway)
    if logs is None or not logs.handled or logs.failed is None:
        return "P2"
    slower = logs.median.now / logs.median.before if logs.median is not None and logs.median.before > 0 else 1.0
    return RULE.severity(logs.failed.now / max(1.0, logs.handled.now), slower)
