"""One agent on call reads the logs of a system in trouble, and triages: severity, root, team, remedy."""

from functools import cache

from warroom.core.env import Env
from warroom.core.scene import Scene
from warroom.core.spec import EpisodeSpec
from warroom.core.types import JsonObject, Message, ToolCall
from warroom.envs.logs import oracle, scene
from warroom.envs.logs.base_env import BaseLogsEnv
from warroom.envs.logs.brief import catalogue_of, triage_brief
from warroom.envs.logs.draw import TopologyFactory, default_topology, random_topology
from warroom.envs.logs.incident import SECURITY
from warroom.envs.logs.options import DOCUMENT, DRAWN, LogsOptions
from warroom.envs.logs.recorded import RecordedLogsEnv, RecordedScenario
from warroom.envs.logs.rubric import LEFT_OPEN, triage_rubric
from warroom.envs.logs.scenario import OutageScenario
from warroom.envs.logs.service_summary import service_logs
from warroom.envs.logs.stream import Stream
from warroom.envs.logs.tail import FIRST, LATER, tail
from warroom.envs.logs.views import ALL, TEAMS, LogsObservation, Overview, ServiceLogs
from warroom.sim.service_topology import ServiceTopology


class LogsEnv(BaseLogsEnv):
    """One drawn incident of log triage."""

    def __init__(self, scenario: OutageScenario, spec: EpisodeSpec) -> None:
        options, seed = spec.options_as(LogsOptions), spec.draw_seed
        drawn = oracle.draw_certified(
            scenario,
            spec.tier,
            seed,
            topology_factory=topology_factory(options.topology or DOCUMENT),
            wording=options.wording_split(spec.seed),
            names=options.names_split(spec.seed),
        )
        self.redraws, self.certificate = drawn.redraws, drawn.certificate
        self.incident = incident = drawn.incident
        self.world = drawn.world.copy_with_history()
        rubric = triage_rubric(scenario.budget, len(incident.roots), len(incident.teams))
        super().__init__(spec, scenario.budget, rubric, catalogue_of(incident))
        self.stream = Stream(incident, self.world)
        self.related = self.unrelated = 0
        """Lines shown so far while something was wrong, by whether they have to do with it."""
        self.abuse_stopped_minute: int | None = None
        """Minute by which security will have stopped abuse."""
        self._index = {name: i for i, name in enumerate(incident.system.names)}

    def job(self) -> str:
        """The job, the rules and the catalogue."""
        return triage_brief(self.catalogue, self.budget, self.READS_PER_TURN)

    def observation(self) -> LogsObservation:
        """Lines of the last minute, and what the last act brought."""
        lines, related = tail(self.stream, self.world.minute, LATER if self.turn else FIRST)
        if not self.world.no_active_fault():
            self.related += related
            self.unrelated += len(lines) - related
        return LogsObservation(
            self.turn + 1, self.budget, self.world.minute, self.stream.volume(), tuple(lines),
            self.last_results.get(self.seat, ""), self._reply,
        )  # fmt: skip

    # -- what declarations and acts come to --------------------------------------------------------------

    def max_declarations(self, kind: str) -> int:
        """One severity, as many roots as there are, every team."""
        return {"severity": 1, "root": max(1, len(self.incident.roots)), "team": len(TEAMS)}[kind]

    def grade_declaration(self, kind: str, value: str) -> None:
        """Right or wrong. Security, once paged, ends abuse some time later."""
        if kind == "severity":
            right = value == self.certificate.impact.severity
            self.record_event("severity_right" if right else "severity_wrong")
        elif kind == "root":
            self.record_event("root_right" if self._index[value] in self.incident.roots else "root_wrong", value)
        else:
            self.record_event("team_right" if value in self.incident.teams else "team_wrong", value)
            if value == SECURITY:
                self.abuse_stopped_minute = self.world.minute + oracle.SECURITY_RESPONSE_MINUTES

    def apply_remedy(self, action: str, service: str) -> Message:
        """Carry out a remedy, right or wrong."""
        i = self._index[service]
        if not self.world.fixes_fault(action, i, 3 * self.world.system.replicas[i]):
            self.record_event("wrong_remedy", f"{action} {service}")
        oracle.apply_remedy(self.world, action, i)
        return Message(f"Done: {action} {service}.")

    def close_incident(self, ignored: bool) -> Message:
        """Ignored: right if nothing was wrong. Resolved: right if nothing is broken any more."""
        wrong = bool(self.incident.faults)
        if ignored:
            self.record_event(*(("closed_wrongly", "ignored") if wrong else ("ignored",)))
            return Message("The incident is closed as noise.")
        if wrong and oracle.can_resolve(self.world):
            self.record_event("recovered")
            return Message("The incident is closed.")
        self.record_event("closed_wrongly", "resolved")
        return Message("The incident is closed, but not mended.")

    def read_logs(self, source: str) -> ServiceLogs | Overview:
        """What the logs say at this minute."""
        if source == ALL:
            return Overview(tuple([self.stream.level(i) for i in range(self.incident.system.size)]))
        return service_logs(self.stream, self._index[source])

    # -- the hooks of the contract --------------------------------------------------------------------

    def advance(self) -> None:
        """One minute passes; with the last turn an incident that was not closed is left open."""
        oracle.advance_minute(self.world, self.incident.provider_recovery_minute, self.abuse_stopped_minute)
        if self.turn >= self.budget:
            self.record_event("left_open")
        super().advance()

    def truth(self) -> JsonObject:
        """The roots, the causes, the fixes, the teams and the severity."""
        incident, names = self.incident, self.incident.system.names
        return {
            "roots": [names[i] for i in incident.roots],
            "mechanisms": [fault.mechanism.name for fault in incident.faults],
            "cures": [fault.mechanism.fix for fault in incident.faults],
            "teams": sorted(incident.teams),
            "severity": self.certificate.impact.severity,
            "failing": round(self.certificate.impact.failing, 4),
            "slower": round(self.certificate.impact.slower, 3),
            "noise": incident.noise,
            "redraws": self.redraws,
        }

    def oracle(self) -> ToolCall:
        """The move that the certificate was made with, declarations first."""
        truth = self.truth()
        if not self.incident.faults:
            return ToolCall("ignore")
        if not self.declared_values["severity"]:
            return ToolCall("classify_severity", {"severity": truth["severity"]})
        for kind, name, argument in (("root", "identify_root_cause", "service"), ("team", "escalate", "team")):
            for value in truth[f"{kind}s"]:
                if value not in self.declared_values[kind]:
                    return ToolCall(name, {argument: value})
        return self.best_action()

    def best_action(self) -> ToolCall:
        """What one who knows the truth does with the world where something is wrong, whatever was declared."""
        move = oracle.best_action(self.world)
        if move is oracle.RESOLVE:
            return ToolCall("resolve")
        if move is oracle.LOOK:
            return ToolCall("request_more_logs", {"service": ALL})
        return ToolCall("remediate", {"action": move.verb, "service": self.incident.system.names[move.service]})

    def bounds(self) -> tuple[float, float]:
        """Points of the no-op policy, which never closes, and of the oracle in the certificate's run."""
        turns = self.certificate.oracle_turns
        assert turns is not None
        return LEFT_OPEN, oracle.most_points(self.rubric, self.incident, turns)

    def outcome(self) -> dict[str, bool | float | None]:
        """Metrics of the episode so far; None where one does not apply."""
        names, wrong = [event.name for event in self.events], bool(self.incident.faults)
        solved = self.points()["recovery"] > 0
        root = names.count("root_right") == len(self.incident.roots) and "root_wrong" not in names
        return {
            "solved": solved,
            "root_cause": root if wrong else ("ignored" in names and not self.declared_values["root"]),
            "severity": "severity_right" in names if wrong else None,
            "team": names.count("team_right") == len(self.incident.teams) and "team_wrong" not in names
            if wrong else None,
            "wrong_remedies": float(names.count("wrong_remedy")),
            "mttr": float(self.turn) if solved else None,
            "turns": float(self.turn),
        }  # fmt: skip

    def scene(self, seat: str | None = None) -> Scene:
        """Services and their logs: as they are, or as the seat was shown them."""
        return scene.true_scene(self) if seat is None else scene.seat_scene(self, seat)

    def counterfactual(self) -> tuple[str, ...]:
        """What users lost, and would have lost had no one acted, or had the oracle."""
        return scene.counterfactual(self)


@cache
def topology_factory(text: str) -> TopologyFactory:
    """The call graph that an option asks for: `document`, `drawn`, `drawn:N`, or the JSON text of a topology."""
    if text == DOCUMENT:
        return default_topology
    if text == DRAWN:
        return random_topology(*DRAWN_SIZE)
    if text.startswith("drawn:"):
        number = text.removeprefix("drawn:")
        if not number.isdigit() or not MOST[0] <= int(number) <= MOST[1]:
            raise ValueError(f"topology=drawn:N takes {MOST[0]} to {MOST[1]} services, got {number!r}")
        return random_topology(int(number), int(number))
    service_topology = ServiceTopology.from_json(text)
    return lambda rng, names: service_topology


DRAWN_SIZE, MOST = (5, 12), (5, 40)
"""Services of a drawn topology: by default, and the least and most that may be asked for."""


def build(scenario: OutageScenario | RecordedScenario, spec: EpisodeSpec) -> Env:
    """Build one episode: of a drawn incident, or of a recorded one."""
    if isinstance(scenario, RecordedScenario):
        return RecordedLogsEnv(scenario, spec)
    return LogsEnv(scenario, spec)
