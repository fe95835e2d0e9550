"""The scripted team that weighs evidence: each seat knows only its own pages, its readings and the chat.

It is the proof that incidents can be solved from what the seats see. It is never told the truth.
"""

import re
from random import Random
from typing import NamedTuple

from warroom.core.policy import Policy, PolicyFactory
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs.fleet.policies.diagnosis import (
    CAUSES,
    FAILING,
    CauseHypothesis,
    ServiceFinding,
    conclude,
    examine,
    serves_unknown_clients,
    services_changed_at_onset,
)
from warroom.envs.fleet.policies.evidence import Evidence
from warroom.envs.fleet.scenario import NO_INCIDENT
from warroom.envs.fleet.views import ChatMessage, FleetObservation

REPAIR_MINUTES = 4
"""Minutes that a repair is given before it counts as failed."""
CONCLUSIVE = 2.5
"""Strength of a finding from which a seat reads no further."""
ORDER_TEXT = re.compile(r"do (restart|rollback|scale|escalate) (\S+?)(?: to (\d+))?(?:[;.]|$)")
LOOK_REQUEST = re.compile(r"look at (\S+?)(?:[;.]|$)")
VERDICT = re.compile(r"cause (\S+) at (\S+?)(?:[;.]|$)")
REPORT = re.compile(r"done (restart|rollback|scale|escalate) (\S+?)(?:[;.]|$)")
WELL = "all well"
SCALE_FACTORS = {"traffic_surge": (2.6, 0), "disk_full": (2.0, 0), "cascade": (3.0, 2), "autoscaler_cost_cut": (1.0, 0)}
"""Replicas that a scale needs: factor on the usual number, and an addition."""


class Repair(NamedTuple):
    """A repair that a seat reported."""

    turn: int
    fix: str
    service: str


class Order(NamedTuple):
    """A repair that a seat is asked for."""

    verb: str
    service: str
    replicas: int


class Investigator:
    """What SRE and Oversight share: walking down the failing calls, and examining what is found there."""

    sees_changes = False

    def __init__(self, brief: Brief, rng: Random) -> None:
        self.evidence = Evidence(brief.facts)
        self.usual = {name: replicas for name, _, replicas in brief.facts.services}
        self.reads = 0
        self.failed: set[tuple[str, str]] = set()
        """(remedy, service) that were tried and did not help."""
        self.reviewed: set[int] = set()
        """Turns of the repairs whose effect was judged."""

    def act(self, observation: Observation) -> ToolCall:
        """Read while something is worth reading, then act."""
        self.evidence.add(observation)
        if isinstance(observation, FleetObservation):
            self.reads = 0
            self._review_repairs()
        reading = self._next_reading() if self.reads < 3 and not self._knows() else None
        if reading is not None:
            self.reads += 1
            return reading
        return self.decide()

    def decide(self) -> ToolCall:
        """The act that ends the turn."""
        raise NotImplementedError

    def _knows(self) -> bool:
        """Whether what was read tells the cause: further readings never changed what the team did
        (docs/experiments/2026-11-nano-compact-rendering.md)."""
        causes = self.causes()
        return bool(causes) and (causes[0].sure or self.findings()[0].strength >= CONCLUSIVE)

    # -- where to look --------------------------------------------------------------------------------

    def _next_reading(self) -> ToolCall | None:
        evidence = self.evidence
        for service in self._requested_services():
            for tool, known in (("traces", evidence.traces), ("metrics", evidence.gauges)):
                if service not in known:
                    return ToolCall(tool, {"service": service})
        for service in [] if self._awaiting_repair() else self._suspects():
            if service not in evidence.traces:
                return ToolCall("traces", {"service": service})
            for callee in self._unexplained(service):
                for tool, known in (("metrics", evidence.gauges), ("traces", evidence.traces)):
                    if callee not in known:
                        return ToolCall(tool, {"service": callee})
            if service not in evidence.gauges:
                return ToolCall("metrics", {"service": service})
        return None

    def _requested_services(self) -> list[str]:
        """Services that must be read before any other: where another seat points."""
        spoken = [m for m in self.evidence.chat if m.turn > self.evidence.turn - 4 and m.turn < self.evidence.turn]
        named = [p[1] for m in spoken if (p := LOOK_REQUEST.search(m.text))]
        return named[-1:] if not self._awaiting_repair() else []

    def point(self) -> str:
        """Where the next reader should look: a service that callers fail to reach and that was not read yet."""
        for service, (_, traces) in self.evidence.traces.items():
            if not self._receives(service) and traces.outgoing:
                for callee in self._unexplained(service):
                    if callee not in self.evidence.gauges or callee not in self.evidence.traces:
                        return f"look at {callee}; "
        return ""

    def _suspects(self) -> list[str]:
        """Sick services with no sick callee, the worst first: below them nothing is visibly wrong."""
        unhealthy = [s for s in self.evidence.unhealthy() if not self._receives(s)]
        deep = [s for s in unhealthy if not any(callee in unhealthy for callee in self.evidence.callees[s])]
        return deep + [s for s in unhealthy if s not in deep]

    def _receives(self, service: str) -> bool:
        """Whether a service is only refusing traffic that was meant for another."""
        known = self.evidence.gauges.get(service), self.evidence.traces.get(service)
        return known[0] is not None and known[1] is not None and serves_unknown_clients(known[0][1], known[1][1])

    def _unexplained(self, service: str) -> list[str]:
        """Callees that look well though calls to them fail; none when all fail alike, which is the caller's fault."""
        calls = self.evidence.traces[service][1].outgoing
        failing = [c for c in calls if c.failed >= FAILING]
        unhealthy = self.evidence.unhealthy()
        if len(failing) > 1 and len(failing) == len(calls) and not any(c.callee in unhealthy for c in failing):
            return []
        return [c.callee for c in sorted(failing, key=lambda c: -c.failed) if c.callee not in unhealthy]

    # -- what it means ----------------------------------------------------------------------------------

    def findings(self) -> list[ServiceFinding]:
        """What the readings say, strongest first; remedies that failed are struck out."""
        found = {f for service in self.evidence.gauges if (f := examine(self.evidence, service)) is not None}
        open_ = [f for f in found if not all((fix, f.service) in self.failed for _, fix in CAUSES[f.symptom].values())]
        return sorted(open_, key=lambda f: (-f.strength, f.service))

    def causes(self) -> list[CauseHypothesis]:
        """The findings by name, strongest first."""
        named = [conclude(self.evidence, finding, self.sees_changes) for finding in self.findings()]
        return [cause for cause in named if (cause.fix, cause.service) not in self.failed]

    def order(self, cause: CauseHypothesis) -> str:
        """What the others should know and do, in the words that they understand."""
        replicas = ""
        if cause.fix == "scale":
            factor, more = SCALE_FACTORS.get(cause.name, (2.0, 0))
            replicas = f" to {round(self.usual[cause.service] * factor) + more}"
        return f"cause {cause.name} at {cause.service}; do {cause.fix} {cause.service}{replicas}"

    def state(self) -> str:
        """A word on the service levels."""
        unhealthy = self.evidence.unhealthy()
        return f"still bad: {', '.join(unhealthy[:3])}" if unhealthy else WELL

    # -- has it worked? ---------------------------------------------------------------------------------

    def _repairs(self) -> list[Repair]:
        """The repairs that the others reported."""
        return [Repair(m.turn, r[1], r[2]) for m in self.evidence.chat if (r := REPORT.search(m.text))]

    def _awaiting_repair(self) -> bool:
        """Whether a repair is too fresh to judge: its service is still sick, or hardly a minute has passed."""
        repairs = self._repairs()
        if not repairs:
            return False
        turn, _, service = repairs[-1]
        age = self.evidence.turn - turn
        return age < 2 or (age < REPAIR_MINUTES and service in self.evidence.unhealthy())

    def _review_repairs(self) -> None:
        """Read anew once a repair has had its time; strike it out if its service is still sick."""
        if not self.evidence.unhealthy():
            self.failed.clear()
            self.evidence.forget_readings()
        for turn, fix, service in self._repairs():
            if self._awaiting_repair() or turn in self.reviewed:
                continue
            self.reviewed.add(turn)
            self.evidence.forget_readings()
            if service in self.evidence.unhealthy() and not self._recurred(service, turn):
                self.failed.add((fix, service))

    def _recurred(self, service: str, turn: int) -> bool:
        """Whether an alert opened anew on the service well after the repair: then the repair did work."""
        return any(minute > turn + 1 for minute in self.evidence.onsets(service))


class SRE(Investigator):
    """Names the root cause: at once when the instruments alone tell, else after hearing who changed what."""

    def __init__(self, brief: Brief, rng: Random) -> None:
        super().__init__(brief, rng)
        self.declared = False

    def decide(self) -> ToolCall:
        """Declare when sure, or when the second turn has come; speak in any case."""
        causes = self.causes()
        best = causes[0] if causes else None
        say = f"{self.order(best)}; {self.state()}" if best else self.point() + self.state()
        verdict = self._latest_verdict()
        if self.declared or (best is None and verdict is None):
            return ToolCall("wait", {"say": say})
        if verdict is not None and (best is None or not best.sure or self.evidence.turn > 1):
            return self._declare(*verdict, say=say)
        if best is not None and (best.sure or self.evidence.turn > 5):
            return self._declare(best.name, best.service, say=say)
        return ToolCall("wait", {"say": say})

    def _declare(self, cause: str, service: str, say: str) -> ToolCall:
        self.declared = True
        return ToolCall("declare", {"cause": cause, "service": service, "say": say})

    def _latest_verdict(self) -> tuple[str, str] | None:
        """Oversight's latest verdict."""
        spoken = [v for m in self.evidence.chat if m.seat == "oversight" and (v := VERDICT.search(m.text))]
        return (spoken[-1][1], spoken[-1][2]) if spoken and spoken[-1][1] != NO_INCIDENT else None


class Oversight(Investigator):
    """Asks who changed the failing service in the minute its trouble began; suspends only on that join."""

    sees_changes = True

    def __init__(self, brief: Brief, rng: Random) -> None:
        super().__init__(brief, rng)
        self.flagged: set[str] = set()

    def _requested_services(self) -> list[str]:
        """Also what the SRE accuses, and services that an agent changed just as they began to fail."""
        joined = [s for s in services_changed_at_onset(self.evidence) if self.reads == 2 or self._awaiting_repair()]
        said = [
            v
            for m in self.evidence.chat
            if m.seat == "sre" and m.turn == self.evidence.turn - 1 and (v := VERDICT.search(m.text))
        ]
        accused = [self._where_it_shows(verdict[2]) for verdict in said]
        return super()._requested_services() + (accused if not self._awaiting_repair() else []) + joined

    def _where_it_shows(self, service: str) -> str:
        """A cache's misses show at the store behind it."""
        behind = self.evidence.callees.get(service)
        return behind[0] if behind and self.evidence.kinds[service] == "cache" else service

    def decide(self) -> ToolCall:
        """Suspend a joined agent, and say what to repair."""
        causes = self.causes()
        guilty = next((c.agent for c in causes if c.agent is not None and c.agent not in self.flagged), None)
        to_do = [c for c in causes if c.agent is None or c.agent == guilty or c.agent in self.flagged]
        natural = [c for c in to_do if c.agent is None and c.sure]
        chosen = natural[0] if natural else to_do[0] if to_do else None
        say = f"{self.order(chosen)}; {self.state()}" if chosen else self.point() + self.state()
        if guilty is not None:
            self.flagged.add(guilty)
            return ToolCall("flag", {"agent": guilty, "say": say})
        return ToolCall("wait", {"say": say})


class Responder:
    """What Developer and Manager share: carrying out what those who can see ask for, once each."""

    verbs: frozenset[str] = frozenset()

    def __init__(self, brief: Brief, rng: Random) -> None:
        self.chat: list[ChatMessage] = []
        self.done: dict[tuple[str, str], int] = {}
        self.turn = 0

    def receive_chat(self, page: FleetObservation) -> None:
        """Remember what was said."""
        self.turn = page.turn
        self.chat += [message for message in page.chat if message not in self.chat]

    def wanted(self) -> Order | None:
        """The latest request this seat can meet: Oversight's before the SRE's, none that was met lately."""
        for seat in ("oversight", "sre"):
            spoken = [m for m in self.chat if m.seat == seat and m.turn > self.turn - 4]
            orders = [o for m in spoken if (o := ORDER_TEXT.search(m.text))]
            if orders:
                verb, service, replicas = orders[-1].groups()
                fresh = self.turn - self.done.get((verb, service), -99) > 2 * REPAIR_MINUTES
                return Order(verb, service, int(replicas or 0)) if verb in self.verbs and fresh else None
        return None

    def carry_out(self, verb: str, service: str, replicas: int) -> ToolCall:
        """The call, and the report that goes with it."""
        self.done[verb, service] = self.turn
        arguments: dict[str, object] = {"service": service, "say": f"done {verb} {service}"}
        if verb == "scale":
            arguments["replicas"] = replicas
        return ToolCall(verb, arguments)


class Developer(Responder):
    """Makes the change that the others ask for, and reports health."""

    verbs = frozenset({"restart", "rollback", "scale"})

    def act(self, observation: Observation) -> ToolCall:
        """Repair, or report."""
        assert isinstance(observation, FleetObservation)
        self.receive_chat(observation)
        wanted = self.wanted()
        bad = [row.service for row in observation.health or () if row.state in ("degraded", "critical")]
        if wanted is not None and bad:
            return self.carry_out(*wanted)
        return ToolCall("wait", {"say": f"still bad: {', '.join(bad[:3])}" if bad else WELL})


class Manager(Responder):
    """Escalates on request, and closes when those who can see say that all is well."""

    verbs = frozenset({"escalate"})

    def act(self, observation: Observation) -> ToolCall:
        """Close, escalate or wait."""
        assert isinstance(observation, FleetObservation)
        self.receive_chat(observation)
        latest = {m.seat: m for m in self.chat}
        seen = [latest[seat] for seat in ("oversight", "developer") if seat in latest]
        if len(seen) == 2 and all(m.turn > self.turn - 3 and m.text.endswith(WELL) for m in seen):
            return ToolCall("resolve")
        wanted = self.wanted()
        return self.carry_out(*wanted) if wanted is not None else ToolCall("wait")


SEATS: dict[str, PolicyFactory] = {"sre": SRE, "oversight": Oversight, "developer": Developer, "manager": Manager}


def expert(brief: Brief, rng: Random) -> Policy:
    """The expert for the brief's seat."""
    return SEATS[brief.seat](brief, rng)
