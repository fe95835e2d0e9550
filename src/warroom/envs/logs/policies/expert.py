"""The scripted expert on call: reads what can change its mind, concludes, declares, fixes, and makes sure.

It knows only what its pages show. It is the proof that incidents can be solved from the logs, and is never told the
truth.
"""

from collections import Counter
from random import Random

from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs.logs.policies.diagnosis import Diagnosis, conclude, system_view_of
from warroom.envs.logs.policies.next_query import QueryHistory, next_query
from warroom.envs.logs.policies.remediation import RemediationPlan, noise_rise
from warroom.envs.logs.policies.system_view import SystemView
from warroom.envs.logs.views import ALL, LogsObservation, Overview, ServiceLogs

RESERVE = 3
"""Turns that are kept for the remedy, a look at what came of it, and the end."""
SPARE_TIME_SHARE, LATE = 0.3, 0.45
"""Shares of the turns in which there is time to look where nothing points, and to look at one service twice."""
READS = 7
"""Turns spent on reading before the best guess has to do."""


class LogsExpert:
    """Plays the seat of the one on call. What it does next follows from what it was shown alone."""

    def __init__(self, brief: Brief, rng: Random) -> None:
        self.catalogue, self.acts = brief.facts, brief.acts
        self.readings: dict[str, ServiceLogs] = {}
        self.earlier: dict[str, ServiceLogs] = {}
        """The first reading of each service that was read again since."""
        self.overview: Overview | None = None
        self.query_counts: Counter[str] = Counter()
        self.pages: list[LogsObservation] = []
        self.diagnosis: Diagnosis | None = None
        self.remediation: RemediationPlan | None = None
        """What is done about the diagnosis; None while there is none, and where nothing is wrong."""
        self.pending_declarations: list[ToolCall] = []
        self.last: ToolCall | None = None

    def act(self, observation: Observation) -> ToolCall:
        """The next look, declaration or action."""
        if isinstance(observation, LogsObservation):
            self._handle_replaced_call(observation)
            self._record_observation(observation)
        self.last = self._next()
        return self.last

    def _next(self) -> ToolCall:
        if self.diagnosis is None:
            wanted = self._next_query(self.pages[-1])
            if wanted is not None:
                return look(wanted)
        return self.pending_declarations.pop(0) if self.pending_declarations else self._next_action()

    # -- what it remembers ------------------------------------------------------------------------------

    def _handle_replaced_call(self, page: LogsObservation) -> None:
        """Put back what somebody else's call took the place of: declarations bring no page, remedies are confirmed."""
        last = self.last or look(ALL)
        if last.name not in self.acts:
            self.pending_declarations.insert(0, last)
        confirmed = all(value in page.answer for value in last.arguments.values())
        if last.name == "remediate" and not confirmed and self.remediation is not None:
            self.remediation.undo_attempt()

    def _record_observation(self, page: LogsObservation) -> None:
        """Remember a page and the reply that it carries."""
        self.pages.append(page)
        if isinstance(page.reply, Overview):
            self.overview = page.reply
        elif page.reply is not None:
            if page.reply.service in self.readings:
                self.earlier.setdefault(page.reply.service, self.readings[page.reply.service])
            self.readings[page.reply.service] = page.reply
            self.query_counts[page.reply.service] += 1
        if self.remediation is not None:
            self.remediation.add_observation(page)

    @property
    def system_view(self) -> SystemView:
        """What is known now."""
        return system_view_of(self.catalogue, self.readings, self.overview, self.earlier)

    # -- what it does -----------------------------------------------------------------------------------

    def _next_query(self, page: LogsObservation) -> str | None:
        """Whose logs to read next; None once the mind is made up."""
        if self.overview is None and any(logs.gauges for logs in self.readings.values()):
            return ALL  # where there are metrics, those of all services come in one look
        silent = {name for name, logs in self.readings.items() if logs.level.lines is None}
        history = QueryHistory(
            self.query_counts, silent, page.turn > SPARE_TIME_SHARE * page.budget, page.turn > LATE * page.budget
        )
        diagnosis = conclude(self.catalogue, self.readings, self.overview, self.earlier)
        wanted = next_query(self.system_view, diagnosis, history)
        if wanted is not None and page.turn <= min(READS, page.budget - RESERVE):
            return wanted
        self._conclude(diagnosis)
        return None

    def _conclude(self, diagnosis: Diagnosis) -> None:
        self.diagnosis = diagnosis
        if diagnosis.suspects:
            self.pending_declarations = declarations(diagnosis)
            self.remediation = RemediationPlan(diagnosis, self.system_view, noise_rise(self.pages))

    def _next_action(self) -> ToolCall:
        """Fix, close, or look whether it helped."""
        if self.remediation is None:
            return ToolCall("ignore")
        step = self.remediation.next_step(self.system_view)
        if step is not None:
            self.remediation.record_attempt(step)
            return ToolCall("remediate", {"action": step[0], "service": step[1]})
        if self.remediation.should_close(self.system_view, self.pages[-1]):
            return ToolCall("resolve")
        return look(self.remediation.service_to_check())


def look(service: str) -> ToolCall:
    """Ask for the logs of a service."""
    return ToolCall("request_more_logs", {"service": service})


def declarations(diagnosis: Diagnosis) -> list[ToolCall]:
    """Severity, roots and teams, as concluded."""
    return [
        ToolCall("classify_severity", {"severity": diagnosis.severity}),
        *[ToolCall("identify_root_cause", {"service": root}) for root in diagnosis.roots],
        *[ToolCall("escalate", {"team": team}) for team in diagnosis.teams],
    ]


def expert(brief: Brief, rng: Random) -> LogsExpert:
    """The expert for the one seat."""
    return LogsExpert(brief, rng)
