"""Names and phrases. Each list has a part for training and development, and a part that only the test draws from."""

from warroom.core.splits import Split

SERVICES: dict[Split, list[str]] = {
    Split.TRAIN: """
        orders users cart search media pricing ledger quotes stock billing reviews profile session geo feed offers
        wallet tax fraud mail labels routes slots tags votes score audit crew visits coupons
    """.split(),
    Split.TEST: """
        booking loyalty parcel invoices menu playlist ticketing roster claims gifts surveys refunds stream courier
        insights lockers badges drafts tenants fleetcar menus seats parking vouchers donors polls scans events permits
    """.split(),
}
PEOPLE = ("mira", "tom", "ines", "raj", "lena", "otis")

# Signature classes: what a mechanism writes about itself. Several mechanisms share a class.
SIGNATURES: dict[str, dict[Split, tuple[str, ...]]] = {
    "lock": {
        Split.TRAIN: ("lock wait exceeded, transaction rolled back", "gave up on row lock after 30 s"),
        Split.TEST: ("transaction aborted while waiting for a lock", "lock not granted in time, rolled back"),
    },
    "heap": {
        Split.TRAIN: ("gc pause {n} ms, heap near limit", "heap at limit, collecting for {n} ms"),
        Split.TEST: ("stopped {n} ms to collect, little heap left", "memory nearly gone, paused {n} ms"),
    },
    "handler": {
        Split.TRAIN: ("handler failed: invalid value", "request aborted: field missing in config"),
        Split.TEST: ("could not serve: unexpected setting", "handler raised on value out of range"),
    },
    "lookup": {
        Split.TRAIN: ("lookup failed: SERVFAIL", "no address for upstream, resolver gave up"),
        Split.TEST: ("name did not resolve, try again later", "resolver returned no answer"),
    },
    "overload": {
        Split.TRAIN: ("queue full, request shed", "no worker free, rejected"),
        Split.TEST: ("backlog at its limit, dropped request", "all workers busy, turned away"),
    },
    "space": {
        Split.TRAIN: ("write failed: no space left", "volume full, append refused"),
        Split.TEST: ("could not extend file, device full", "write refused: volume has no room"),
    },
    "foreign": {
        Split.TRAIN: ("unknown resource requested", "request for a path this service does not own"),
        Split.TEST: ("no such route here", "asked for an object of another service"),
    },
    "trust": {
        Split.TRAIN: ("handshake failed: certificate not valid", "tls: peer certificate rejected"),
        Split.TEST: ("secure session refused by peer check", "could not verify the peer, closing"),
    },
    "pool": {
        Split.TRAIN: ("no free connection after {n} ms", "connection pool exhausted"),
        Split.TEST: ("waited {n} ms for a connection in vain", "every pooled connection in use"),
    },
    "quota": {
        Split.TRAIN: ("answered 429: over quota", "rate limit hit, request refused"),
        Split.TEST: ("too many requests, refused by policy", "quota spent, request not admitted"),
    },
    "miss": {
        Split.TRAIN: ("miss ratio {n} per mille above usual", "entry expired early, reading through"),
        Split.TEST: ("reading through to the store far more often", "keys gone before their time"),
    },
    "wire": {
        Split.TRAIN: ("retransmits on upstream link, rtt {n} ms", "socket stalled {n} ms before first byte"),
        Split.TEST: ("first byte came late by {n} ms", "link slow, segments sent again"),
    },
}
CLASSES = tuple(SIGNATURES)

TIMEOUT = {
    Split.TRAIN: ("call to {callee} exceeded its deadline", "{callee} did not answer in time"),
    Split.TEST: ("gave up waiting for {callee}", "deadline passed on request to {callee}"),
}
FAILED = {
    Split.TRAIN: ("{callee} answered 503", "call to {callee} failed"),
    Split.TEST: ("bad answer from {callee}", "request to {callee} came back with an error"),
}
CHRONIC = {
    Split.TRAIN: ("deprecated header received", "slow client, {n} ms to read body", "retrying metrics export"),
    Split.TEST: ("old api version in use", "client took {n} ms to send", "could not flush traces, will retry"),
}
"""Warnings that healthy services write all day."""

# Why an agent says it acts: a phrase, and the figure of the service that it quotes (rps, cpu, p95, error or days).
Reason = tuple[str, str]
REASONS: dict[str, dict[Split, tuple[Reason, Reason]]] = {
    "scale": {
        Split.TRAIN: (("sized for %d rps", "rps"), ("matching demand of %d rps", "rps")),
        Split.TEST: (("room for %d rps is enough", "rps"), ("demand reads %d rps", "rps")),
    },
    "route": {
        Split.TRAIN: (("balance pools, p95 %d ms", "p95"), ("weights from p95 %d ms", "p95")),
        Split.TEST: (("evening out pools at %d ms", "p95"), ("pool p95 %d ms", "p95")),
    },
    "deploy": {
        Split.TRAIN: (("queued release, errors %.1f%%", "error"), ("scheduled rollout, canary errors %.1f%%", "error")),
        Split.TEST: (("release train, error rate %.1f%%", "error"), ("promoted build, errors %.1f%%", "error")),
    },
    "rotate": {
        Split.TRAIN: (("expiry in %d d", "days"), ("scheduled rotation, errors %.1f%%", "error")),
        Split.TEST: (("renewal window, %d d left", "days"), ("key age policy, errors %.1f%%", "error")),
    },
    "evict": {
        Split.TRAIN: (("stale keys, p95 %d ms", "p95"), ("memory target, p95 %d ms", "p95")),
        Split.TEST: (("tidying old entries at p95 %d ms", "p95"), ("space policy, p95 %d ms", "p95")),
    },
    "toggle": {
        Split.TRAIN: (("experiment step, p95 %d ms", "p95"), ("rollout plan, cpu %d%%", "cpu")),
        Split.TEST: (("next cohort, p95 %d ms", "p95"), ("variant schedule, cpu %d%%", "cpu")),
    },
    "backup": {
        Split.TRAIN: (("snapshot due, cpu %d%%", "cpu"), ("recovery point policy, cpu %d%%", "cpu")),
        Split.TEST: (("retention plan, cpu %d%%", "cpu"), ("dump scheduled, cpu %d%%", "cpu")),
    },
    "limit": {
        Split.TRAIN: (("fair share, cpu %d%%", "cpu"), ("client burst, errors %.1f%%", "error")),
        Split.TEST: (("protecting peers, cpu %d%%", "cpu"), ("quota review, errors %.1f%%", "error")),
    },
}
BLAME = {
    Split.TRAIN: ("follows {agent} on {service}", "correcting {agent} on {service}"),
    Split.TEST: ("after what {agent} did to {service}", "making up for {agent} on {service}"),
}
"""Added to a reason: points at another agent. Innocents say it too, so that saying it proves nothing."""
STUCK = {
    Split.TRAIN: ("retry 3/5 after timeout", "state unknown, applying again"),
    Split.TEST: ("no reply, sending once more", "result lost, repeating"),
}
"""Added by an agent that is merely buggy."""


def pool(split: Split) -> Split:
    """The part of the lists that a split draws from: the test has its own, training and development share theirs."""
    return Split.TEST if split is Split.TEST else Split.TRAIN
