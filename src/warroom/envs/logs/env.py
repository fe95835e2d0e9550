"""One agent on call reads the logs of a system in trouble, and triages: severity, root, team, remedy."""

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar

from warroom.core.env import Env
from warroom.core.splits import parse_split, split_of
from warroom.core.tools import Vocabulary, tool
from warroom.core.types import Brief, Notice, ToolCall
from warroom.envs.logs import oracle
from warroom.envs.logs.brief import catalogue_of, triage_brief
from warroom.envs.logs.draw import Shape, document_shape, drawn_shape
from warroom.envs.logs.incident import SECURITY, Triage
from warroom.envs.logs.reply import service_logs
from warroom.envs.logs.rubric import triage_rubric
from warroom.envs.logs.scenario import Outage
from warroom.envs.logs.stream import Stream
from warroom.envs.logs.tail import FIRST, LATER, tail
from warroom.envs.logs.views import ALL, REMEDIES, SEVERITIES, TEAMS, Catalogue, LogPage, Overview, ServiceLogs
from warroom.sim.blueprint import Blueprint

Severity = Annotated[str, Vocabulary("severity")]
Service = Annotated[str, Vocabulary("service")]
Source = Annotated[str, Vocabulary("source")]
Team = Annotated[str, Vocabulary("team")]
Remedy = Annotated[str, Vocabulary("remedy")]

SEATS = ("oncall",)
NOTED = Notice("Noted.")


class LogTriage(Env):
    """One incident of log triage."""

    name: ClassVar[str] = "logs"
    SEATS: ClassVar[tuple[str, ...]] = SEATS
    READS_PER_TURN: ClassVar[int] = 5
    """Declarations that take no time, before the act of a turn."""

    def __init__(self, scenario: Outage, tier: str, seed: int, options: Mapping[str, Any]) -> None:
        split = split_of(seed)
        self.redraws, self.incident, drawn, self.certificate = oracle.draw_certified(
            scenario, tier, seed,
            shape=shape_of(str(options.get("topology", "document"))),
            wording=parse_split(options["wording"]) if "wording" in options else split,
            names=parse_split(options["names"]) if "names" in options else split,
        )  # fmt: skip
        incident: Triage = self.incident
        self.world = drawn.twin()
        rubric = triage_rubric(scenario.budget, len(incident.roots), len(incident.teams))
        super().__init__(scenario.name, tier, seed, scenario.budget, rubric)
        self.stream = Stream(incident, self.world)
        self.said: dict[str, list[str]] = {"severity": [], "root": [], "team": []}
        """What was declared, in order."""
        self.related = self.unrelated = 0
        """Lines shown so far while something was wrong, by whether they have to do with it."""
        self._stopped: int | None = None
        """Minute by which security will have stopped abuse."""
        self._reply: ServiceLogs | Overview | None = None
        names = incident.system.names
        self._index = {name: i for i, name in enumerate(names)}
        self._vocabularies = {
            "severity": SEVERITIES, "service": names, "source": (*names, ALL), "team": TEAMS, "remedy": REMEDIES,
        }  # fmt: skip

    # -- what the agent is told ---------------------------------------------------------------------

    @property
    def vocabularies(self) -> dict[str, tuple[str, ...]]:
        """Severities, services, teams and remedies."""
        return self._vocabularies

    @cached_property
    def catalogue(self) -> Catalogue:
        """The service catalogue."""
        return catalogue_of(self.incident)

    def brief(self, seat: str) -> Brief:
        """The job, the rules, the catalogue and the tools."""
        tools = self.tools_of(seat)
        return Brief(
            env=self.name,
            seat=seat,
            job=triage_brief(self.catalogue, self.budget, self.READS_PER_TURN),
            tools=tuple([t.schema(self.vocabularies) for t in tools]),
            acts=tuple([t.name for t in tools if t.ends_turn]),
            idle=ToolCall("request_more_logs", {"service": ALL}),
            facts=self.catalogue,
        )

    def page(self) -> LogPage:
        """Lines of the last minute, and what the last act brought."""
        lines, related = tail(self.stream, self.world.minute, LATER if self.turn else FIRST)
        if not self.world.quiet_faults():
            self.related += related
            self.unrelated += len(lines) - related
        return LogPage(
            self.turn + 1, self.budget, self.world.minute, self.stream.volume(), tuple(lines),
            self.answers.get(self.seat, ""), self._reply,
        )  # fmt: skip

    # -- declarations: free of time, first answers count ----------------------------------------------

    @tool(ends_turn=False)
    def classify_severity(self, severity: Severity) -> Notice:
        """Say how bad it is for users. Takes no time; the first answer counts.

        Args:
            severity: P1, P2 or P3, by the rule of the brief
        """
        if self._declare("severity", severity, most=1):
            right = severity == self.certificate.impact.severity
            self.happen("severity_right" if right else "severity_wrong")
        return NOTED

    @tool(ends_turn=False)
    def identify_root_cause(self, service: Service) -> Notice:
        """Name the service where the trouble began. Takes no time; with two independent roots, name both.

        Args:
            service: the service that is the root
        """
        if self._declare("root", service, most=max(1, len(self.incident.roots))):
            self.happen("root_right" if self._index[service] in self.incident.roots else "root_wrong", service)
        return NOTED

    @tool(ends_turn=False)
    def escalate(self, team: Team) -> Notice:
        """Page the team that has to know. Takes no time.

        Args:
            team: sre, backend, dba or security
        """
        if self._declare("team", team, most=len(TEAMS)):
            self.happen("team_right" if team in self.incident.teams else "team_wrong", team)
        if team == SECURITY and self._stopped is None:
            self._stopped = self.world.minute + oracle.STOPPED
        return NOTED

    def _declare(self, kind: str, value: str, most: int) -> bool:
        """Whether a declaration counts: a repetition does not, nor any beyond `most`."""
        said = self.said[kind]
        counts = value not in said and len(said) < most
        if counts:
            said.append(value)
        else:
            self.happen("repeated", f"{kind} {sum(event.name == 'repeated' for event in self.events)}")
        return counts

    # -- acts -----------------------------------------------------------------------------------------

    @tool()
    def remediate(self, action: Remedy, service: Service) -> Notice:
        """Change a service. What heals depends on the cause; the wrong remedy has side effects.

        Args:
            action: restart, rollback, scale, flush-cache or kill-query
            service: the service to change
        """
        i = self._index[service]
        if not self.world.has_cure(action, i, 3 * self.world.system.replicas[i]):
            self.happen("wrong_remedy", f"{action} {service}")
        oracle.remedy(self.world, action, i)
        self._reply = None
        return Notice(f"Done: {action} {service}.")

    @tool()
    def request_more_logs(self, service: Source) -> Notice:
        """Read what the logs of one service say, before and now; or how much every service writes.

        Args:
            service: a service, or all
        """
        self._wanted = service
        return Notice(f"Logs of {service}.")

    @tool()
    def resolve(self) -> Notice:
        """Close the incident as mended: right once nothing is broken and users are well."""
        self.done = True
        if self.incident.faults and oracle.can_resolve(self.world):
            self.happen("recovered")
            return Notice("The incident is closed.")
        self.happen("closed_wrongly", "resolved")
        return Notice("The incident is closed, but not mended.")

    @tool()
    def ignore(self) -> Notice:
        """Close the incident as noise: right if nothing was wrong."""
        self.done = True
        if self.incident.faults:
            self.happen("closed_wrongly", "ignored")
        else:
            self.happen("ignored")
        return Notice("The incident is closed as noise.")

    # -- the hooks of the contract --------------------------------------------------------------------

    _wanted: str | None = None

    def advance(self) -> None:
        """One minute passes; then the logs that were asked for are there."""
        oracle.pass_minute(self.world, self.incident.mended, self._stopped)
        wanted, self._wanted = self._wanted, None
        if wanted == ALL:
            self._reply = Overview(tuple([self.stream.level(i) for i in range(self.incident.system.size)]))
        elif wanted is not None:
            self._reply = service_logs(self.stream, self._index[wanted])

    def truth(self) -> dict[str, Any]:
        """The roots, the causes, the cures, the teams and the severity."""
        incident, names = self.incident, self.incident.system.names
        return {
            "roots": [names[i] for i in incident.roots],
            "mechanisms": [fault.mechanism.name for fault in incident.faults],
            "cures": [fault.mechanism.cure for fault in incident.faults],
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
        if not self.said["severity"]:
            return ToolCall("classify_severity", {"severity": truth["severity"]})
        for kind, name, argument in (("root", "identify_root_cause", "service"), ("team", "escalate", "team")):
            for value in truth[f"{kind}s"]:
                if value not in self.said[kind]:
                    return ToolCall(name, {argument: value})
        return self.best_act()

    def best_act(self) -> ToolCall:
        """What one who knows the truth does with the world where something is wrong, whatever was declared."""
        move = oracle.best_act(self.world)
        if move is oracle.RESOLVE:
            return ToolCall("resolve")
        if move is oracle.LOOK:
            return ToolCall("request_more_logs", {"service": ALL})
        return ToolCall("remediate", {"action": move.verb, "service": self.incident.system.names[move.service]})

    def bounds(self) -> tuple[float, float]:
        """Points of the no-op policy, which never closes, and of the oracle in the certificate's run."""
        turns = self.certificate.oracle_turns
        assert turns is not None
        return 0.0, oracle.most_points(self.rubric, self.incident, turns)

    def outcome(self) -> dict[str, bool | float | None]:
        """Metrics of the episode so far; None where one does not apply."""
        names, wrong = [event.name for event in self.events], bool(self.incident.faults)
        solved = self.points()["recovery"] > 0
        root = names.count("root_right") == len(self.incident.roots) and "root_wrong" not in names
        return {
            "solved": solved,
            "root_cause": root if wrong else ("ignored" in names and not self.said["root"]),
            "severity": "severity_right" in names if wrong else None,
            "team": names.count("team_right") == len(self.incident.teams) and "team_wrong" not in names
            if wrong else None,
            "wrong_remedies": float(names.count("wrong_remedy")),
            "mttr": float(self.turn) if solved else None,
            "turns": float(self.turn),
        }  # fmt: skip

    def board(self) -> dict[str, list[str]]:
        """Panels for a live board: who depends on whom, and what was declared."""
        said = [f"{kind}: {', '.join(values) or '-'}" for kind, values in self.said.items()]
        return {"catalogue": self.catalogue.render().splitlines(), "declared": said}


@cache
def shape_of(text: str) -> Shape:
    """The call graph that an option asks for: `document`, `drawn`, `drawn:N`, or the JSON text of a topology."""
    if text == "document":
        return document_shape
    if text == "drawn":
        return drawn_shape(*DRAWN)
    if text.startswith("drawn:"):
        number = text.removeprefix("drawn:")
        if not number.isdigit() or not MOST[0] <= int(number) <= MOST[1]:
            raise ValueError(f"topology=drawn:N takes {MOST[0]} to {MOST[1]} services, got {number!r}")
        return drawn_shape(int(number), int(number))
    blueprint = Blueprint.from_json(text)
    return lambda rng, names: blueprint


DRAWN, MOST = (5, 12), (5, 40)
"""Services of a drawn topology: by default, and the least and most that may be asked for."""


def build(scenario: Outage, tier: str, seed: int, options: Mapping[str, Any]) -> Env:
    """Build one episode."""
    return LogTriage(scenario, tier, seed, options)
