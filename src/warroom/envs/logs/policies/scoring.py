"""Where the trouble starts: each service is credited with the signs that trouble in it would leave.

Trouble at a service shows on the calls of it and, through those that depend on it, on the calls of them; never
elsewhere. So a service earns what is said of itself, and what is said of all that lead to it. The deepest service whose
own calls are in trouble earns most: its callers lack its own sign, and its callees have the sign of calm.
"""

from collections.abc import Mapping
from math import exp, log

from warroom.envs.logs.policies.keywords import UNFAMILIAR
from warroom.envs.logs.policies.likelihood import EVIDENCE_PRICE, MOST, LatencyEvidence
from warroom.envs.logs.policies.system_view import SystemView

DOWNSTREAM_WEIGHT = 0.7
"""Worth of failures at a service for those below it: not every failure below reaches it."""
SELF_REPORT_WEIGHT = 0.5
"""Weight of what a service says of its own failures where no other says anything: dead workers say nothing."""
WORDS, UNFAMILIAR_WORDS = 5.0, 1.5
"""Nats for new words about a known kind of trouble, and about something unfamiliar."""
SURGE, SURGE_FROM = 4.0, 0.3
"""Nats for requests that none of the callers sent, from this logarithm of their factor on."""
STRAIN_FROM = 5.0
"""Standard deviations of a metric that earn nothing: with dozens of services and metrics, chance earns a few; each
further one earns a nat."""
FACTORS = (0.25, 0.4, 0.6, 0.9, 1.2, 1.6, 2.1, 2.6)
"""Logarithms of the factors on durations that are tried: 1.3 to 13 times."""


def scores(system_view: SystemView, explained: frozenset[str] = frozenset()) -> dict[str, float]:
    """Nats for each service as the root against calm; signs at the services in `explained` count for nothing."""
    return {name: score(system_view, name, explained) for name in system_view.catalogue.names if name not in explained}


def score(system_view: SystemView, service: str, explained: frozenset[str] = frozenset()) -> float:
    """Nats for trouble that starts at one service."""
    reported = failure_score(system_view, service, explained) + max(0.0, latency_score(system_view, service, explained))
    return reported + own_evidence(system_view, service)


def failure_score(system_view: SystemView, service: str, explained: frozenset[str] = frozenset()) -> float:
    """Nats from failed calls: of the service, and of those above it."""
    return _own_failures(system_view, service) + DOWNSTREAM_WEIGHT * sum(
        max(0.0, _seen_failing(system_view, name)) for name in system_view.affected_callers[service] - explained
    )


def _own_failures(system_view: SystemView, service: str) -> float:
    """Failures at the service that its callees do not explain."""
    refused, reported = system_view.observed_failures(service), system_view.reported_failures(service)
    if refused is not None:
        return refused.weight
    if reported is None:
        return 0.0
    unexplained_evidence = system_view.own_failures(service)
    return unexplained_evidence if service == system_view.gateway else SELF_REPORT_WEIGHT * unexplained_evidence


def _seen_failing(system_view: SystemView, service: str) -> float:
    """Failures at a service, whatever causes them."""
    sign = system_view.observed_failures(service) or system_view.reported_failures(service)
    return sign.weight if sign is not None else 0.0


def latency_score(system_view: SystemView, service: str, explained: frozenset[str] = frozenset()) -> float:
    """Nats from durations: of the best size of a delay at the service, which all above it wait for in due measure."""
    rates = system_view.call_rates_to(service)
    observed = {
        name: sign for name in rates if name not in explained and (sign := system_view.latency_change(name)) is not None
    }
    if not observed:
        return 0.0
    return (
        max(_fits(observed, rates, added) for added in _sizes(system_view, service, observed, rates)) - EVIDENCE_PRICE
    )


def _sizes(
    system_view: SystemView, service: str, observed: Mapping[str, LatencyEvidence], rates: Mapping[str, float]
) -> list[float]:
    """Milliseconds that trouble at the service may add to each of its requests."""
    if service in observed:
        return [observed[service].base * (exp(factor) - 1) for factor in FACTORS]
    nearest = min(
        observed,
        key=lambda name: (
            len(system_view.transitive_callers[service]) - len(system_view.transitive_callers[name]),
            name,
        ),
    )
    return [observed[nearest].base * (exp(factor) - 1) / max(0.05, rates[nearest]) for factor in FACTORS]


def _fits(observed: Mapping[str, LatencyEvidence], rates: Mapping[str, float], added: float) -> float:
    """Nats by which so much delay explains the durations better than none."""
    return sum(_fit(sign, log(1 + rates[name] * added / sign.base)) for name, sign in observed.items())


def _fit(sign: LatencyEvidence, expected: float) -> float:
    gained = (sign.change**2 - (sign.change - expected) ** 2) / (2 * sign.variance)
    return min(MOST, max(-MOST / 2, gained))


def unexplained_evidence(system_view: SystemView, service: str) -> float:
    """Nats from failures that are the service's own and from new words about itself: what no other root explains."""
    return max(0.0, system_view.own_failures(service)) + _words(system_view, service)


def _words(system_view: SystemView, service: str) -> float:
    words = system_view.words(service)
    return WORDS if any(name != UNFAMILIAR for name in words) else UNFAMILIAR_WORDS if words else 0.0


def own_evidence(system_view: SystemView, service: str) -> float:
    """Nats from new words of the service about itself, its metrics, and requests that no caller sent."""
    strained = min(MOST, max(0.0, system_view.metric_deviation(service) - STRAIN_FROM))
    return _words(system_view, service) + strained + (SURGE if system_view.surge(service) > SURGE_FROM else 0.0)


def posterior_of(scored: Mapping[str, float], calm: float = 0.0) -> dict[str, float]:
    """Probability of each service as the root, with none at `calm` nats; all alike before anything was read."""
    top = max([calm, *scored.values()])
    weights = {name: exp(log_odds - top) for name, log_odds in scored.items()}
    whole = sum(weights.values()) + exp(calm - top)
    return {name: weight / whole for name, weight in weights.items()}
