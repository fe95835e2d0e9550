"""Where the trouble starts: each service is credited with the signs that trouble in it would leave.

Trouble at a service shows on the calls of it and, through those that depend on it, on the calls of them; never
elsewhere. So a service earns what is said of itself, and what is said of all that lead to it. The deepest service whose
own calls are in trouble earns most: its callers lack its own sign, and its callees have the sign of calm.
"""

from collections.abc import Mapping
from math import exp, log

from warroom.envs.logs.policies.picture import Picture
from warroom.envs.logs.policies.signs import MOST, PRICE, Slows
from warroom.envs.logs.policies.words import UNFAMILIAR

THROUGH = 0.7
"""Worth of failures at a service for those below it: not every failure below reaches it."""
CRASH_TELLS = 0.5
"""Worth of what a service says of its own failures where nobody else says anything: dead workers say nothing."""
WORDS, STRANGE_WORDS = 5.0, 1.5
"""Nats for new words about a known kind of trouble, and about something unfamiliar."""
SURGE, SURGE_FROM = 4.0, 0.3
"""Nats for requests that none of the callers sent, from this logarithm of their factor on."""
STRAIN_FROM = 5.0
"""Standard deviations of a metric that earn nothing: with dozens of services and metrics, chance earns a few; each
further one earns a nat."""
FACTORS = (0.25, 0.4, 0.6, 0.9, 1.2, 1.6, 2.1, 2.6)
"""Logarithms of the factors on durations that are tried: 1.3 to 13 times."""


def scores(picture: Picture, explained: frozenset[str] = frozenset()) -> dict[str, float]:
    """Nats for each service as the root against calm; signs at the services in `explained` count for nothing."""
    return {name: score(picture, name, explained) for name in picture.catalogue.names if name not in explained}


def score(picture: Picture, service: str, explained: frozenset[str] = frozenset()) -> float:
    """Nats for trouble that starts at one service."""
    heard = failures(picture, service, explained) + max(0.0, delays(picture, service, explained))
    return heard + marks(picture, service)


def failures(picture: Picture, service: str, explained: frozenset[str] = frozenset()) -> float:
    """Nats from failed calls: of the service, and of those above it."""
    return _own_failures(picture, service) + THROUGH * sum(
        max(0.0, _seen_failing(picture, name)) for name in picture.reach[service] - explained
    )


def _own_failures(picture: Picture, service: str) -> float:
    """Failures at the service that its callees do not explain."""
    refused, told = picture.refused(service), picture.told(service)
    if refused is not None:
        return refused.weight
    if told is None:
        return 0.0
    own = picture.own_failures(service)
    return own if service == picture.gateway else CRASH_TELLS * own


def _seen_failing(picture: Picture, service: str) -> float:
    """Failures at a service, whoever causes them."""
    sign = picture.refused(service) or picture.told(service)
    return sign.weight if sign is not None else 0.0


def delays(picture: Picture, service: str, explained: frozenset[str] = frozenset()) -> float:
    """Nats from durations: of the best size of a delay at the service, which all above it wait for in due measure."""
    rates = picture.rates_to(service)
    felt = {name: sign for name in rates if name not in explained and (sign := picture.duration(name)) is not None}
    if not felt:
        return 0.0
    return max(_fits(felt, rates, added) for added in _sizes(picture, service, felt, rates)) - PRICE


def _sizes(picture: Picture, service: str, felt: Mapping[str, Slows], rates: Mapping[str, float]) -> list[float]:
    """Milliseconds that trouble at the service may add to each of its requests."""
    if service in felt:
        return [felt[service].base * (exp(factor) - 1) for factor in FACTORS]
    nearest = min(felt, key=lambda name: (len(picture.above[service]) - len(picture.above[name]), name))
    return [felt[nearest].base * (exp(factor) - 1) / max(0.05, rates[nearest]) for factor in FACTORS]


def _fits(felt: Mapping[str, Slows], rates: Mapping[str, float], added: float) -> float:
    """Nats by which so much delay explains the durations better than none."""
    return sum(_fit(sign, log(1 + rates[name] * added / sign.base)) for name, sign in felt.items())


def _fit(sign: Slows, expected: float) -> float:
    gained = (sign.change**2 - (sign.change - expected) ** 2) / (2 * sign.variance)
    return min(MOST, max(-MOST / 2, gained))


def own(picture: Picture, service: str) -> float:
    """Nats from failures that are the service's own and from new words about itself: what no other root explains."""
    return max(0.0, picture.own_failures(service)) + _words(picture, service)


def _words(picture: Picture, service: str) -> float:
    words = picture.words(service)
    return WORDS if any(name != UNFAMILIAR for name in words) else STRANGE_WORDS if words else 0.0


def marks(picture: Picture, service: str) -> float:
    """Nats from new words of the service about itself, its metrics, and requests that nobody above it sent."""
    strained = min(MOST, max(0.0, picture.strain(service) - STRAIN_FROM))
    return _words(picture, service) + strained + (SURGE if picture.surge(service) > SURGE_FROM else 0.0)


def shares(scored: Mapping[str, float], calm: float = 0.0) -> dict[str, float]:
    """Probability of each service as the root, with nobody at `calm` nats; all alike before anything was read."""
    top = max([calm, *scored.values()])
    weights = {name: exp(nats - top) for name, nats in scored.items()}
    whole = sum(weights.values()) + exp(calm - top)
    return {name: weight / whole for name, weight in weights.items()}
