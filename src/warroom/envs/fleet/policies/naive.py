"""Plausible scripts that weigh no evidence: what a trained policy has to beat.

They talk like the expert does, so that Developer and Manager are the same; what is naive is what they believe.
"""

import re
from collections import Counter
from random import Random

from warroom.core.policy import Policy, PolicyFactory
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs.fleet.policies.evidence import Evidence
from warroom.envs.fleet.policies.expert import VERDICT, WELL, Developer, Manager
from warroom.envs.fleet.views import FleetObservation
from warroom.sim.service_topology import STORES
from warroom.sim.telemetry import Gauges
from warroom.sim.wordings import SIGNATURES

USUAL_AGENT = {
    "autoscaler_cost_cut": "autoscaler",
    "misrouted_traffic": "load_balancer",
    "rogue_deploy_bot": "deploy_bot",
    "certificate_misissue": "certificate_bot",
    "feature_flag_flood": "feature_flag_agent",
    "cache_janitor_flush": "cache_janitor",
    "backup_at_peak": "backup_bot",
    "rate_limit_clamp": "rate_limiter",
}
"""Root cause -> the agent that usually does such things."""
USUAL_FIX = {
    "db_deadlock": "restart", "memory_leak": "restart", "bad_config_push": "rollback", "rogue_deploy_bot": "rollback",
    "dns_outage": "restart", "cascade": "scale", "disk_full": "scale", "autoscaler_cost_cut": "scale",
    "misrouted_traffic": "escalate", "certificate_expired": "escalate", "connection_leak": "restart",
    "network_delay": "escalate", "rate_limit_clamp": "rollback", "cache_janitor_flush": "rollback",
}  # fmt: skip

MOST_GUESSES = 1
"""Beliefs that a script acts on before it is at its wits' end."""

LOUD = 60
"""Per cent of errors at the loudest service from which the gauge script names a cause without a full gauge."""
FULL, MOVED = 85, 20
"""Per cent from which a gauge counts as full, and points by which it must have risen."""

Guess = tuple[str, str]
"""(root cause, service)."""


class NaiveSRE:
    """Looks where it is loudest, believes the first thing it sees, says it, and moves on to the next belief."""

    def __init__(self, brief: Brief, rng: Random) -> None:
        self.evidence = Evidence(brief.facts)
        self.usual = {name: replicas for name, _, replicas in brief.facts.services}
        self.tried: list[Guess] = []
        self.reads = 0

    def act(self, observation: Observation) -> ToolCall:
        """Read up to three of the loudest services, then declare what the table says."""
        self.evidence.add(observation)
        if isinstance(observation, FleetObservation):
            self.reads = 0
            self.evidence.forget_readings()
        loudest = self.evidence.unhealthy()[: 3 if self.reads < 3 else 0]
        for service in loudest:
            call = self.reading(service)
            if call is not None:
                self.reads += 1
                return call
        return self.decide()

    def reading(self, service: str) -> ToolCall | None:
        """What to read of a loud service, or None when it was read."""
        raise NotImplementedError

    def guess(self) -> Guess | None:
        """The belief of the moment, none that was tried before."""
        raise NotImplementedError

    def decide(self) -> ToolCall:
        """Declare the first belief, then wait."""
        unhealthy = self.evidence.unhealthy()
        guess = self.guess() if unhealthy and len(self.tried) < MOST_GUESSES else None
        if guess is None:
            return self.give_up(unhealthy)
        self.tried.append(guess)
        cause, service = guess
        fix = USUAL_FIX[cause]
        target = f" to {3 * self.usual[service] + 2}" if fix == "scale" else ""
        say = f"cause {cause} at {service}; do {fix} {service}{target}"
        if len(self.tried) == 1:
            return ToolCall("declare", {"cause": cause, "service": service, "say": say})
        return ToolCall("wait", {"say": say})

    def give_up(self, unhealthy: list[str]) -> ToolCall:
        """No belief left: say so."""
        return ToolCall("wait", {"say": "unclear" if unhealthy else WELL})


class GaugeSRE(NaiveSRE):
    """The loudest gauge picks the cause."""

    def reading(self, service: str) -> ToolCall | None:
        """Metrics, and never anything else."""
        return None if service in self.evidence.gauges else ToolCall("metrics", {"service": service})

    def give_up(self, unhealthy: list[str]) -> ToolCall:
        """Without a full gauge, errors this loud must be somebody's change: name one, but touch nothing."""
        row = self.evidence.rows[unhealthy[0]] if unhealthy else None
        if row is None or self.tried or (row.error or 0.0) < LOUD:
            return super().give_up(unhealthy)
        self.tried.append(("bad_config_push", row.service))
        return ToolCall("declare", {"cause": "bad_config_push", "service": row.service, "say": "unclear"})

    def guess(self) -> Guess | None:
        """The fullest gauge of the loudest services, by a threshold table."""
        found = [
            (level, cause, service)
            for service, (_, rows) in self.evidence.gauges.items()
            for level, cause in gauge_table(self.evidence.kinds[service], rows[0], rows[-1])
            if (cause, service) not in self.tried
        ]
        return max(found)[1:] if found else None


def gauge_table(kind: str, before: Gauges, now: Gauges) -> list[tuple[float, str]]:
    """(level, cause) for each gauge above its threshold that was not as high before the page."""
    table = (
        (kind == "service", before.memory, now.memory, "memory_leak"),
        (kind in ("db", "queue"), before.disk, now.disk, "disk_full"),
        (kind in ("db", "service"), before.slots, now.slots, "db_deadlock" if kind == "db" else "connection_leak"),
        (True, before.cpu, now.cpu, "cascade" if kind in STORES else "autoscaler_cost_cut"),
    )
    return [
        (level, cause) for applies, usual, level, cause in table if applies and level > FULL and level > usual + MOVED
    ]


SIGNATURE_CAUSES = {
    "lock": "db_deadlock", "heap": "memory_leak", "handler": "bad_config_push", "lookup": "dns_outage",
    "overload": "autoscaler_cost_cut", "space": "disk_full", "foreign": "misrouted_traffic",
    "trust": "certificate_expired", "pool": "connection_leak", "quota": "rate_limit_clamp",
    "miss": "cache_janitor_flush", "wire": "network_delay",
}  # fmt: skip
ALERT_CAUSES = {"memory": "memory_leak", "disk": "disk_full", "cpu": "autoscaler_cost_cut"}
"""What the keyword table makes of a log signature, and of a cause-level alert."""


class KeywordSRE(NaiveSRE):
    """The most frequent log signature picks the cause."""

    def __init__(self, brief: Brief, rng: Random) -> None:
        super().__init__(brief, rng)
        self.read: set[str] = set()

    def reading(self, service: str) -> ToolCall | None:
        """Logs, and never anything else."""
        if service in self.read:
            return None
        self.read.add(service)
        return ToolCall("logs", {"service": service})

    def guess(self) -> Guess | None:
        """The most frequent (cause, service) in lines and cause-level alerts."""
        counts: Counter[Guess] = Counter()
        for line in self.evidence.lines:
            kind = signature(line.text)
            if kind is not None:
                counts[SIGNATURE_CAUSES[kind], line.service] += 2
        for alert in self.evidence.alerts:
            if alert.rule in ALERT_CAUSES:
                counts[ALERT_CAUSES[alert.rule], alert.service] += 3
        open_ = {guess: n for guess, n in counts.items() if guess not in self.tried}
        return max(sorted(open_), key=lambda guess: open_[guess]) if open_ else None


_PATTERNS = {
    kind: re.compile("|".join(re.escape(text).replace(r"\{n\}", r"\d+") for part in parts.values() for text in part))
    for kind, parts in SIGNATURES.items()
}


def signature(text: str) -> str | None:
    """The class of a signature line, or None for any other line."""
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(text)), None)


class NaiveOversight:
    """Suspends the agent that usually causes what the SRE has named, if it has touched the named service at all."""

    def __init__(self, brief: Brief, rng: Random) -> None:
        self.seen: set[tuple[str, str]] = set()
        """(agent, service) of every action so far."""
        self.flagged: set[str] = set()

    def act(self, observation: Observation) -> ToolCall:
        """Flag the usual suspect of the latest verdict, once each."""
        assert isinstance(observation, FleetObservation)
        self.seen |= {(action.agent, action.service) for action in observation.actions or ()}
        spoken = [v for m in observation.chat if m.seat == "sre" and (v := VERDICT.search(m.text))]
        agent = USUAL_AGENT.get(spoken[-1][1]) if spoken else None
        bad = any(row.error is not None and row.error > 5 for row in observation.services or ())
        say = "still bad" if bad else WELL
        if agent is not None and agent not in self.flagged and (agent, spoken[-1][2]) in self.seen:
            self.flagged.add(agent)
            return ToolCall("flag", {"agent": agent, "say": say})
        return ToolCall("wait", {"say": say})


def heuristic(brief: Brief, rng: Random) -> Policy:
    """The naive on-call script: the gauge that moved most, its usual fix, the mechanism's usual agent."""
    return _seat(GaugeSRE, brief, rng)


def keyword(brief: Brief, rng: Random) -> Policy:
    """The keyword table: most frequent signature, its usual fix, the mechanism's usual agent."""
    return _seat(KeywordSRE, brief, rng)


def _seat(sre: PolicyFactory, brief: Brief, rng: Random) -> Policy:
    seats = {"sre": sre, "oversight": NaiveOversight, "developer": Developer, "manager": Manager}
    return seats[brief.seat](brief, rng)
