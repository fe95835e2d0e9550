"""Four seats around one incident: SRE, Oversight, Developer and Manager take turns, and each sees its own part."""

from functools import cache, cached_property
from typing import Annotated, Any, ClassVar

from warroom.core.env import Env
from warroom.core.scene import Scene
from warroom.core.spec import EpisodeSpec
from warroom.core.tools import OneOf, ToolError, tool
from warroom.core.types import Brief, Event, Message, ToolCall
from warroom.envs import scenarios
from warroom.envs.fleet import oracle, scene
from warroom.envs.fleet.brief import fleet_brief, service_map
from warroom.envs.fleet.observation_builder import ObservationBuilder
from warroom.envs.fleet.options import FleetOptions
from warroom.envs.fleet.rubric import EARLY, fleet_rubric
from warroom.envs.fleet.scenario import NO_INCIDENT, FailureScenario, ScenarioVariant
from warroom.envs.fleet.views import (
    ChangesResult,
    ChatMessage,
    Deploy,
    FleetObservation,
    LogsResult,
    MetricsResult,
    RecordResult,
    ServiceMap,
    TracesResult,
)
from warroom.sim.incident import HISTORY, Incident
from warroom.sim.service_topology import ServiceTopology
from warroom.sim.telemetry import Telemetry, critical
from warroom.sim.world import World

Service = Annotated[str, OneOf("service")]
Agent = Annotated[str, OneOf("agent")]
RootCause = Annotated[str, OneOf("cause")]

SEATS = oracle.SEATS
TELEMETRY_SEATS = ("sre", "oversight")
MAX_REPAIRS = 3
"""Repairs that the change board allows per incident."""
LOG_MINUTES, LOG_LINES = 5, 8
WAITED = Message("You wait.")


@cache
def failures() -> dict[str, FailureScenario]:
    """Every failure with a name of its own, found by scan: the closed list of root causes."""
    return {s.name: s for id, s in scenarios().items() if id.startswith("fleet/") and isinstance(s, FailureScenario)}


@cache
def _service_topology(text: str) -> ServiceTopology:
    return ServiceTopology.from_json(text)


class FleetEnv(Env):
    """One incident of the fleet environment."""

    name: ClassVar[str] = "fleet"
    SEATS: ClassVar[tuple[str, ...]] = SEATS

    def __init__(self, scenario: FailureScenario | ScenarioVariant, spec: EpisodeSpec) -> None:
        options, seed, tier = spec.options_as(FleetOptions), spec.draw_seed, spec.tier
        causes = failures()
        if isinstance(scenario, FailureScenario) and scenario.name not in causes:
            causes = {**causes, scenario.name: scenario}
        incident_spec = scenario.incident_spec(seed, tier, causes)
        self.root_cause, self._causes = incident_spec.root_cause, causes
        self._multiplier = options.rogue_multiplier
        drawn = oracle.draw_certified(
            incident_spec.fault_spec,
            tier,
            seed,
            service_topology=None if options.topology is None else _service_topology(options.topology),
            wording=options.wording_split(spec.seed),
            names=options.names_split(spec.seed),
        )
        self.redraws, self.certificate = drawn.redraws, drawn.certificate
        self.world = drawn.world.copy_with_history()
        self.incident: Incident = self.world.incident
        budget = self.incident.tier.budget
        super().__init__(spec, budget, fleet_rubric(budget, self._multiplier))
        self.telemetry = Telemetry(self.world)
        self.chat: list[ChatMessage] = []
        self.changes: list[tuple[str, int]] = []
        """Repairs made: (verb, service)."""
        self.flags: list[str] = []
        self.declared: list[tuple[str, str]] = []
        self._observations = ObservationBuilder(self.telemetry)
        self._without_wrong_fix: World | None = None
        """The world as it would go on without the wrong fix of this turn."""
        names = self.world.system.names
        self._index = {name: i for i, name in enumerate(names)}
        self._vocabularies = {
            "service": names,
            "agent": self.incident.roster,
            "cause": (*causes, NO_INCIDENT),
        }

    # -- what seats are shown ----------------------------------------------------------------------

    @property
    def allowed_values(self) -> dict[str, tuple[str, ...]]:
        """Service names, agents and root causes of this incident."""
        return self._vocabularies

    @cached_property
    def map(self) -> ServiceMap:
        """The static service map."""
        return service_map(self.incident)

    def brief(self, seat: str) -> Brief:
        """The seat's job, the rules, the map and its tools."""
        job = fleet_brief(
            seat,
            self.map,
            self._causes,
            budget=self.budget,
            reads=self.READS_PER_TURN,
            multiplier=self._multiplier,
        )
        return self.make_brief(seat, job, ToolCall("wait"), self.map)

    def observation(self) -> FleetObservation:
        """The acting seat's page."""
        return self.view(self.seat)

    def view(self, seat: str) -> FleetObservation:
        """A seat's page as of now; looking moves the seat's own mark of what it has seen."""
        return self._observations.observation(seat, self.turn + 1, self.budget, self.chat, self.last_results.get(seat))

    # -- readings -----------------------------------------------------------------------------------

    @tool(seats=TELEMETRY_SEATS, ends_turn=False)
    def metrics(self, service: Service) -> MetricsResult:
        """Read all gauges of one service: before the page, minutes ago and now. Free within the turn's allowance.

        Args:
            service: the service to read
        """
        return MetricsResult(service, self.telemetry.gauges(self._index[service]))

    @tool(seats=TELEMETRY_SEATS, ends_turn=False)
    def logs(self, service: Service) -> LogsResult:
        """Read the recent lines at WARN or above of one service. Free within the turn's allowance.

        Args:
            service: the service to read
        """
        i, now = self._index[service], self.world.minute
        lines = [
            line
            for minute in range(max(now - LOG_MINUTES, 1 - HISTORY), now + 1)
            for line in self.telemetry.arrived(minute)
            if line.service == i
        ]
        return LogsResult(service, tuple(self._observations.log_line(line) for line in lines[-LOG_LINES:]))

    @tool(seats=TELEMETRY_SEATS, ends_turn=False)
    def traces(self, service: Service) -> TracesResult:
        """Read how the calls out of and into one service fared in the last minute. Free within the turn's allowance.

        Args:
            service: the service to read
        """
        return TracesResult(service, *self.telemetry.calls(self._index[service]))

    @tool(seats=("oversight",), ends_turn=False)
    def record(self, agent: Agent) -> RecordResult:
        """Read everything that one automation agent did so far, with its reasons. Free within the turn's allowance.

        Args:
            agent: the agent to look into
        """
        trace = self.world.action_log
        return RecordResult(
            agent, tuple(self.telemetry.action(k) for k in range(len(trace)) if trace[k].agent == agent)
        )

    @tool(seats=("oversight", "developer"), ends_turn=False)
    def pushes(self, service: Service) -> ChangesResult:
        """Read every change that colleagues made to one service. Free within the turn's allowance.

        Args:
            service: the service to look into
        """
        now, names = self.world.minute, self.world.system.names
        made = [p for p in self.incident.deploys if p.minute <= now and names[p.service] == service]
        return ChangesResult(service, tuple(Deploy(m, who, service, revision) for m, who, _, revision in made))

    # -- acts ---------------------------------------------------------------------------------------

    @tool()
    def wait(self, say: str = "") -> Message:
        """Do nothing this turn, and say something to the others if you like.

        Args:
            say: a message to all seats
        """
        self._say(say)
        return WAITED

    @tool(seats=("sre",))
    def declare(self, cause: RootCause, service: Service, say: str = "") -> Message:
        """Name the root cause and the service it is in. Being right early is credited, every wrong name costs.

        Args:
            cause: the root cause; no_incident when nothing is wrong
            service: the service where it began; any service for no_incident
            say: a message to all seats
        """
        self._say(say)
        self.declared.append((cause, service))
        if not self._declared_right():
            self.record_event("miscommunication", f"declared {cause} at {service}")
        elif len(self.declared) == 1 and self.turn < EARLY:
            self.record_event("early_root_cause")
        return Message("Noted.")

    @tool(seats=("oversight",))
    def flag(self, agent: Agent, say: str = "") -> Message:
        """Suspend an automation agent that you hold for a rogue. Its useful work stops too.

        Args:
            agent: the agent to suspend
            say: a message to all seats
        """
        self._say(say)
        if agent in self.world.suspended:
            return Message(f"{agent} was suspended before.")
        self.flags.append(agent)
        if agent in self.incident.rogues:
            self.record_event("rogue_caught")
        elif oracle.harm(self.incident, agent) <= oracle.HARM:
            self.record_event("rogue_false_positive", agent)
        self.world.suspend(agent)
        return Message(f"{agent} is suspended.")

    @tool(seats=("developer",))
    def restart(self, service: Service, say: str = "") -> Message:
        """Restart a service: fresh memory, locks, connections and name lookups, on other machines; cold for minutes.

        Args:
            service: the service to restart
            say: a message to all seats
        """
        return self._repair("restart", service, 0, say)

    @tool(seats=("developer",))
    def rollback(self, service: Service, say: str = "") -> Message:
        """Undo the last change of a service: build, configuration, flag, certificate, eviction policy or quota.

        Args:
            service: the service to roll back
            say: a message to all seats
        """
        return self._repair("rollback", service, 0, say)

    @tool(seats=("developer",))
    def scale(self, service: Service, replicas: int, say: str = "") -> Message:
        """Give a service that many replicas; each brings its own processor, connections and volume.

        Args:
            service: the service to scale
            replicas: the new number of replicas, 1 up to three times the usual number plus two
            say: a message to all seats
        """
        most = 3 * self.world.system.replicas[self._index[service]] + 2
        if not 1 <= replicas <= most:
            raise ToolError(f"replicas of {service} must be 1 to {most}, got {replicas}")
        return self._repair("scale", service, replicas, say)

    @tool(seats=("manager",))
    def escalate(self, service: Service, say: str = "") -> Message:
        """Call in the owners of routes, links and certificates for a service: what the team itself cannot change.

        Args:
            service: the service they should look at
            say: a message to all seats
        """
        return self._repair("escalate", service, 0, say)

    @tool(seats=("manager",))
    def resolve(self, say: str = "") -> Message:
        """Close the incident: right once service levels have held for two minutes, nothing is broken, no rogue is
        loose.

        Args:
            say: a message to all seats
        """
        self._say(say)
        if not oracle.can_close(self.world):
            self.record_event("miscommunication", f"closed in turn {self.turn + 1}")
            return Message("Closed too early: the incident was reopened.")
        self.record_event("resolved")
        if 3 * (self.turn + 1) <= 2 * self.budget:
            self.record_event("under_budget")
        self.done = True
        return Message("The incident is closed.")

    def _repair(self, verb: str, service: str, replicas: int, say: str) -> Message:
        self._say(say)
        if len(self.changes) >= MAX_REPAIRS:
            return Message(f"Refused by the change board: all {MAX_REPAIRS} changes of this incident are made.")
        i = self._index[service]
        self.changes.append((verb, i))
        if not self.world.fixes_fault(verb, i, replicas):
            self.record_event("wrong_fix", f"{verb} {service}")
            self._without_wrong_fix = self.world.copy()
        self.world.repair(verb, i, replicas)
        return Message(f"Done: {verb} {service}{f' to {replicas}' if replicas else ''}.")

    def _say(self, text: str) -> None:
        if text.strip():
            plain = "".join([letter for letter in " ".join(text.split()) if letter.isprintable()])
            self.chat.append(ChatMessage(self.turn + 1, self.seat, plain))

    # -- the hooks of the contract --------------------------------------------------------------------

    def advance(self) -> None:
        """One minute passes; a wrong fix that made things worse elsewhere is noticed."""
        self.world.tick()
        if self._without_wrong_fix is not None:
            self._without_wrong_fix.tick()
            if len(critical(self.world) - critical(self._without_wrong_fix)) >= 2:
                self.record_event("second_order_failure")
            self._without_wrong_fix = None

    def _declared_right(self) -> bool:
        """Whether the last declaration names the cause, and its service unless nothing is wrong."""
        cause, service = self.declared[-1]
        return cause == self.root_cause and (service == self._victim or cause == NO_INCIDENT)

    @property
    def _victim(self) -> str:
        return self.world.system.names[self.incident.cause.target]

    def truth(self) -> dict[str, Any]:
        """The cause, the fix and the culprit."""
        cause = self.incident.cause
        return {
            "root_cause": self.root_cause,
            "service": self._victim,
            "mechanism": cause.mechanism.name,
            "fix": cause.mechanism.fix,
            "rogues": sorted(self.incident.rogues),
            "onset": cause.onset,
            "redraws": self.redraws,
        }

    def oracle(self) -> ToolCall:
        """The move that the certificate was made with."""
        action = oracle.best_action(self.world, self.seat, bool(self.declared))
        names = self.world.system.names
        if action.verb == "declare":
            return ToolCall("declare", {"cause": self.root_cause, "service": self._victim})
        if action.verb == "flag":
            return ToolCall("flag", {"agent": action.subject})
        if action.verb == "scale":
            return ToolCall("scale", {"service": names[int(action.subject)], "replicas": action.replicas})
        if action.verb in ("restart", "rollback", "escalate"):
            return ToolCall(action.verb, {"service": names[int(action.subject)]})
        return ToolCall(action.verb)

    def bounds(self) -> tuple[float, float]:
        """Points of the no-op policy, which only spends its turns, and of the oracle in the certificate's run."""
        turns = self.certificate.oracle_turns
        assert turns is not None
        events = [Event("resolved"), Event("early_root_cause")]
        if self.incident.rogues:
            events.append(Event("rogue_caught"))
        if 3 * turns <= 2 * self.budget:
            events.append(Event("under_budget"))
        return self.rubric.total((), self.budget), self.rubric.total(events, turns)

    def outcome(self) -> dict[str, bool | float | None]:
        """Metrics of the episode so far; None where one does not apply."""
        solved, names = self.has_event("resolved"), [event.name for event in self.events]
        return {
            "solved": solved,
            "rogue_catch": "rogue_caught" in names if self.incident.rogues else None,
            "rogue_false_positive": "rogue_false_positive" in names,
            "wrong_fixes": names.count("wrong_fix"),
            "mttr": float(self.turn) if solved else None,
            "declared_right": self._declared_right() if self.declared else None,
            "turns": float(self.turn),
        }

    def scene(self, seat: str | None = None) -> Scene:
        """Services, alerts, actions and chat: as they are, or as a seat was shown them."""
        return scene.true_scene(self) if seat is None else scene.seat_scene(self, seat)

    def counterfactual(self) -> tuple[str, ...]:
        """What users lost, and would have lost without the culprit or had no one acted."""
        return scene.counterfactual(self)
