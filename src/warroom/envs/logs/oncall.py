"""The seat of log triage: its tools and what it declared, whether the logs were drawn or recorded."""

from abc import abstractmethod
from typing import Annotated, ClassVar

from warroom.core.env import Env
from warroom.core.rubric import Rubric
from warroom.core.tools import Vocabulary, tool
from warroom.core.types import Brief, Notice, ToolCall
from warroom.envs.logs.views import ALL, REMEDIES, SEVERITIES, TEAMS, Catalogue, Overview, ServiceLogs

Severity = Annotated[str, Vocabulary("severity")]
Service = Annotated[str, Vocabulary("service")]
Source = Annotated[str, Vocabulary("source")]
Team = Annotated[str, Vocabulary("team")]
Remedy = Annotated[str, Vocabulary("remedy")]

SEATS = ("oncall",)
NOTED = Notice("Noted.")


class OnCall(Env):
    """What every environment of log triage has in common. A subclass knows what is right and what an act does."""

    name: ClassVar[str] = "logs"
    SEATS: ClassVar[tuple[str, ...]] = SEATS
    READS_PER_TURN: ClassVar[int] = 5
    """Declarations that take no time, before the act of a turn."""

    def __init__(self, scenario: str, tier: str, seed: int, budget: int, rubric: Rubric, catalogue: Catalogue) -> None:
        super().__init__(scenario, tier, seed, budget, rubric)
        self.catalogue = catalogue
        self.said: dict[str, list[str]] = {"severity": [], "root": [], "team": []}
        """What was declared, in order."""
        self._reply: ServiceLogs | Overview | None = None
        """What the page shows."""
        self._fresh: ServiceLogs | Overview | None = None
        """What this turn's act brought: as of the minute in which it was asked for."""
        self._wanted: str | None = None
        names = catalogue.names
        self._vocabularies = {
            "severity": SEVERITIES, "service": names, "source": (*names, ALL), "team": TEAMS, "remedy": REMEDIES,
        }  # fmt: skip

    # -- what a subclass provides -------------------------------------------------------------------

    @abstractmethod
    def job(self) -> str:
        """The text of the brief."""

    @abstractmethod
    def most(self, kind: str) -> int:
        """How many declarations of a kind count."""

    @abstractmethod
    def judge(self, kind: str, value: str) -> None:
        """Put on the record what a declaration that counts is worth."""

    @abstractmethod
    def change(self, action: str, service: str) -> Notice:
        """Carry out a remedy."""

    @abstractmethod
    def close(self, ignored: bool) -> Notice:
        """What closing the incident comes to."""

    @abstractmethod
    def read(self, source: str) -> ServiceLogs | Overview:
        """The logs of a service, or of all."""

    # -- what the agent is told ---------------------------------------------------------------------

    @property
    def vocabularies(self) -> dict[str, tuple[str, ...]]:
        """Severities, services, teams and remedies."""
        return self._vocabularies

    def brief(self, seat: str) -> Brief:
        """The job, the rules, the catalogue and the tools."""
        tools = self.tools_of(seat)
        return Brief(
            env=self.name,
            seat=seat,
            job=self.job(),
            tools=tuple([t.schema(self.vocabularies) for t in tools]),
            acts=tuple([t.name for t in tools if t.ends_turn]),
            idle=ToolCall("request_more_logs", {"service": ALL}),
            facts=self.catalogue,
        )

    # -- declarations: free of time, first answers count ----------------------------------------------

    @tool(ends_turn=False)
    def classify_severity(self, severity: Severity) -> Notice:
        """Say how bad it is for users. Takes no time; the first answer counts.

        Args:
            severity: P1, P2 or P3, by the rule of the brief
        """
        return self._declare("severity", severity)

    @tool(ends_turn=False)
    def identify_root_cause(self, service: Service) -> Notice:
        """Name the service where the trouble began. Takes no time; with two independent roots, name both.

        Args:
            service: the service that is the root
        """
        return self._declare("root", service)

    @tool(ends_turn=False)
    def escalate(self, team: Team) -> Notice:
        """Page the team that has to know. Takes no time.

        Args:
            team: sre, backend, dba or security
        """
        return self._declare("team", team)

    def _declare(self, kind: str, value: str) -> Notice:
        """A declaration counts unless it was made before or comes after the last that counts."""
        said = self.said[kind]
        if value not in said and len(said) < self.most(kind):
            said.append(value)
            self.judge(kind, value)
        else:
            self.happen("repeated", f"{kind} {sum(event.name == 'repeated' for event in self.events)}")
        return NOTED

    # -- acts -----------------------------------------------------------------------------------------

    @tool()
    def remediate(self, action: Remedy, service: Service) -> Notice:
        """Change a service. What heals depends on the cause; the wrong remedy has side effects.

        Args:
            action: restart, rollback, scale, flush-cache or kill-query
            service: the service to change
        """
        return self.change(action, service)

    @tool()
    def request_more_logs(self, service: Source) -> Notice:
        """Read what the logs of one service say, before and now; or how much every service writes.

        Args:
            service: a service, or all
        """
        self._wanted, self._fresh = service, self.read(service)
        return Notice(f"Logs of {service}.")

    @tool()
    def resolve(self) -> Notice:
        """Close the incident as mended: right once nothing is broken and users are well."""
        self.done = True
        return self.close(ignored=False)

    @tool()
    def ignore(self) -> Notice:
        """Close the incident as noise: right if nothing was wrong."""
        self.done = True
        return self.close(ignored=True)

    def advance(self) -> None:
        """What was asked for is on the next page; after any other act, wrong ones too, the page has its answer."""
        self._reply, self._fresh, self._wanted = self._fresh, None, None
