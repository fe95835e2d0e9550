"""The scripted expert on call: reads what can change its mind, concludes, declares, mends, and makes sure.

It knows only what its pages show. It is the proof that incidents can be solved from the logs, and is never told the
truth.
"""

from collections import Counter
from random import Random

from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs.logs.policies.aftercare import Aftercare, din
from warroom.envs.logs.policies.diagnosis import Diagnosis, conclude, picture_of
from warroom.envs.logs.policies.picture import Picture
from warroom.envs.logs.policies.reading import Looked, next_reading
from warroom.envs.logs.views import ALL, LogPage, Overview, ServiceLogs

RESERVE = 3
"""Turns that are kept for the remedy, a look at what came of it, and the end."""
LEISURE, LATE = 0.3, 0.45
"""Shares of the turns in which there is time to look where nothing points, and to look at one service twice."""
READS = 7
"""Turns spent on reading before the best guess has to do."""


class Expert:
    """Plays the seat of the one on call. What it does next follows from what it was shown, whoever acted before."""

    def __init__(self, brief: Brief, rng: Random) -> None:
        self.catalogue, self.acts = brief.facts, brief.acts
        self.readings: dict[str, ServiceLogs] = {}
        self.earlier: dict[str, ServiceLogs] = {}
        """The first reading of each service that was read again since."""
        self.overview: Overview | None = None
        self.looks: Counter[str] = Counter()
        self.pages: list[LogPage] = []
        self.diagnosis: Diagnosis | None = None
        self.aftercare: Aftercare | None = None
        """What is done about the diagnosis; None while there is none, and where nothing is wrong."""
        self.to_say: list[ToolCall] = []
        self.last: ToolCall | None = None

    def act(self, observation: Observation) -> ToolCall:
        """The next look, declaration or deed."""
        if isinstance(observation, LogPage):
            self._notice_unplayed(observation)
            self._take(observation)
        self.last = self._next()
        return self.last

    def _next(self) -> ToolCall:
        if self.diagnosis is None:
            wanted = self._reading(self.pages[-1])
            if wanted is not None:
                return look(wanted)
        return self.to_say.pop(0) if self.to_say else self._deed()

    # -- what it remembers ------------------------------------------------------------------------------

    def _notice_unplayed(self, page: LogPage) -> None:
        """Put back what somebody else's call took the place of: declarations bring no page, remedies are confirmed."""
        last = self.last or look(ALL)
        if last.name not in self.acts:
            self.to_say.insert(0, last)
        confirmed = all(value in page.answer for value in last.arguments.values())
        if last.name == "remediate" and not confirmed and self.aftercare is not None:
            self.aftercare.takes_back()

    def _take(self, page: LogPage) -> None:
        """Remember a page and the reply that it carries."""
        self.pages.append(page)
        if isinstance(page.reply, Overview):
            self.overview = page.reply
        elif page.reply is not None:
            if page.reply.service in self.readings:
                self.earlier.setdefault(page.reply.service, self.readings[page.reply.service])
            self.readings[page.reply.service] = page.reply
            self.looks[page.reply.service] += 1
        if self.aftercare is not None:
            self.aftercare.take(page)

    @property
    def picture(self) -> Picture:
        """What is known now."""
        return picture_of(self.catalogue, self.readings, self.overview, self.earlier)

    # -- what it does -----------------------------------------------------------------------------------

    def _reading(self, page: LogPage) -> str | None:
        """Whose logs to read next; None once the mind is made up."""
        if self.overview is None and any(logs.gauges for logs in self.readings.values()):
            return ALL  # where there are metrics, those of all services come in one look
        silent = {name for name, logs in self.readings.items() if logs.level.lines is None}
        looked = Looked(self.looks, silent, page.turn > LEISURE * page.budget, page.turn > LATE * page.budget)
        diagnosis = conclude(self.catalogue, self.readings, self.overview, self.earlier)
        wanted = next_reading(self.picture, diagnosis, looked)
        if wanted is not None and page.turn <= min(READS, page.budget - RESERVE):
            return wanted
        self._settle(diagnosis)
        return None

    def _settle(self, diagnosis: Diagnosis) -> None:
        self.diagnosis = diagnosis
        if diagnosis.suspects:
            self.to_say = declarations(diagnosis)
            self.aftercare = Aftercare(diagnosis, self.picture, din(self.pages))

    def _deed(self) -> ToolCall:
        """Mend, close, or look whether it helped."""
        if self.aftercare is None:
            return ToolCall("ignore")
        step = self.aftercare.due(self.picture)
        if step is not None:
            self.aftercare.tries(step)
            return ToolCall("remediate", {"action": step[0], "service": step[1]})
        if self.aftercare.closes(self.picture, self.pages[-1]):
            return ToolCall("resolve")
        return look(self.aftercare.look())


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


def expert(brief: Brief, rng: Random) -> Expert:
    """The expert for the one seat."""
    return Expert(brief, rng)
