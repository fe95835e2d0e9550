"""One client's time on call: one incident after the other, each call answered by a text."""

import inspect
import json
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from warroom.core.errors import UnknownName, quote_input
from warroom.core.scenario import TIERS
from warroom.core.types import Message
from warroom.episode import Episode
from warroom.serve.mcp_config import EpisodeWriter, McpConfig, debriefing
from warroom.serve.table import Table
from warroom.session import together

LONGEST_NAME = 100
"""Characters of a tool's name that reach the record."""
LONGEST_ARGUMENTS = 65_536
"""Characters of a call's arguments as JSON that reach the record."""
START, BRIEF, LOOK = "start_incident", "brief", "look"
NEXT_HINT = f"{START} begins another."
OVER_MESSAGE = f"The incident is over; the call changed nothing. {NEXT_HINT}"


class ToolListing(NamedTuple):
    """A tool as a client sees it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON schema of the arguments."""
    read_only: bool
    """Whether a call changes nothing, so that a client need not ask anybody."""


class CallReply(NamedTuple):
    """What a call is answered."""

    text: str
    state: dict[str, Any]
    """For programs, whose turn it is and whether all is over: seat, turn, budget, done, and then the score."""
    new: bool = False
    """Whether another incident began, with other names in its schemas."""


class McpSession:
    """What one client plays. Single-threaded: whoever serves several clients calls one at a time."""

    def __init__(self, config: McpConfig, episode_writer: EpisodeWriter | None = None) -> None:
        """Begin with the first incident of the rota; errors are those of `Rota.table`."""
        self.config, self.episode_writer = config, episode_writer
        self.tier, self.index = config.tier, config.index
        self._open_incident(config.table(self.tier, self.index))

    def _open_incident(self, table: Table) -> None:
        self.table, self._closing = table, ""
        self._turn_texts = [self._with_seat_header(table.view.text)]
        if table.done:  # colleagues ended it before the client had a turn
            self._close(table.view.text)

    # -- what the client sees ---------------------------------------------------------------------------

    def look(self) -> str:
        """What the acting seat was told in this turn: its page and its readings; after the end, what came of it."""
        return self._closing if self.table.done else "\n".join(self._turn_texts)

    def brief(self) -> str:
        """The job of every seat that the client takes."""
        env = self.table.session.env
        return "\n\n".join(env.brief(seat).render() for seat in self.config.seats)

    def list_tools(self) -> list[ToolListing]:
        """The tools of the client's seats in this incident, and those of the shift itself."""
        table = self.table
        owners: dict[str, list[str]] = {}
        found: dict[str, dict[str, Any]] = {}
        for seat in self.config.seats:
            schemas = table.tools(seat) if self.config.open_values else table.session.env.brief(seat).tools
            for schema in schemas:
                owners.setdefault(schema["name"], []).append(seat)
                found[schema["name"]] = schema
        return [*(self._offer(schema, owners[name]) for name, schema in found.items()), *SESSION_TOOLS]

    def _offer(self, schema: Mapping[str, Any], owners: list[str]) -> ToolListing:
        env, name = self.table.session.env, schema["name"]
        mine = f" Seat: {', '.join(owners)}." if set(owners) != set(self.config.seats) else ""
        # A tool that leaves the turn open may still be an answer that counts; a reading shows something.
        shown = inspect.signature(getattr(env, name), eval_str=True).return_annotation
        read_only = not env.tools[name].ends_turn and shown is not Message
        return ToolListing(name, schema["description"] + mine, schema["parameters"], read_only)

    def _with_seat_header(self, text: str) -> str:
        """A client of several seats is told which one it is now."""
        return text if len(self.config.seats) == 1 else f"[seat {self.table.session.seat}]\n{text}"

    # -- what the client does ---------------------------------------------------------------------------

    def call(self, name: str, arguments: Mapping[str, Any]) -> CallReply:
        """Play a call of any name: a tool of the shift, or the acting seat's; nonsense costs that seat's turn."""
        new = False
        if name == START:
            text, new = self._start(arguments)
        elif name in (BRIEF, LOOK):
            text = self.brief() if name == BRIEF else self.look()
        else:
            text = OVER_MESSAGE if self.table.done else self._played(name, arguments)
        return CallReply(text, self._state(), new)

    def _played(self, name: str, arguments: Mapping[str, Any]) -> str:
        env = self.table.session.env
        turn = env.turn
        view = self.table.call(name[:LONGEST_NAME], _recordable(arguments))
        if view.done:
            self._close(view.text)
            return f"{self._closing}\n{NEXT_HINT}"
        text = self._with_seat_header(view.text)
        self._turn_texts = [*self._turn_texts, text] if env.turn == turn else [text]
        return text

    def _state(self) -> dict[str, Any]:
        env, done = self.table.session.env, self.table.done
        score = {"score": round(env.score(), 4)} if done else {}
        return {"seat": self.table.view.seat, "turn": env.turn, "budget": env.budget, "done": done, **score}

    def _start(self, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        try:
            tier, index, abandon = self._wanted(arguments)
            if self._in_progress and not abandon:
                raise ValueError(
                    "an incident is going on; play it to its end, or say abandon=true: your seats then wait to the end"
                )
            table = self.config.table(tier, index)
        except ValueError as error:
            return f"No incident was started, and nothing else changed: {error}", False
        before = self._abandoned() if self._in_progress else ""
        self.tier, self.index = tier, index
        self._open_incident(table)
        return "\n".join(part for part in (before, self._title(), self.look()) if part), True

    @property
    def _in_progress(self) -> bool:
        """An incident of which the client has only seen the first page may be exchanged for another."""
        return self.table.calls > 0 and not self.table.done

    def _wanted(self, arguments: Mapping[str, Any]) -> tuple[str, int, bool]:
        strange = [name for name in arguments if name not in START_PARAMETERS]
        if strange:
            raise UnknownName(f"argument of {START}", strange[0], START_PARAMETERS)
        tier, abandon = arguments.get("tier", self.tier), arguments.get("abandon", False)
        following = self.index + (self.table.calls > 0)
        index = arguments.get("index", following)
        if tier not in TIERS:
            raise UnknownName("tier", tier, TIERS)
        if type(index) is not int:
            raise ValueError(f"index must be an integer from 0, got {quote_input(index)}")
        if type(abandon) is not bool:
            raise ValueError(f"abandon must be true or false, got {quote_input(abandon)}")
        return tier, index, abandon

    def _title(self) -> str:
        of = f" of {self.config.scenarios[0]}" if self.config.named else ""
        return f"Incident {self.index}{of}, {self.tier}, {self.config.split} split."

    # -- the end ------------------------------------------------------------------------------------------

    def _abandoned(self) -> str:
        """An incident that is left counts like any other; otherwise a record would show only what went well."""
        together([self.table.session.leave()])
        self._close("You left the incident, and your seats waited to its end.")
        return self._closing

    def _close(self, how: str) -> None:
        env = self.table.session.env
        terms = ", ".join(f"{name} {value:+g}" for name, value in env.points().items())
        lines = [
            how,
            f"turns {env.turn} of {env.budget}",
            f"score {env.score():+.2f} (0: doing nothing, 1: the best that can be done here)",
            f"points {env.total:+g}: {terms}",
            self._write_episode(),
            debriefing(env, self.table.session.scenario) if self.config.debrief else "",
        ]
        self._closing = "\n".join(line for line in lines if line)

    def _write_episode(self) -> str:
        if self.episode_writer is None:
            return ""
        try:
            self.episode_writer.write(self.episode())
        except ValueError as error:
            # The message names the folder, where the truth is; whoever serves reads it, the client does not.
            print(f"an episode waits to be recorded: {error}", file=sys.stderr)
            return "It could not be recorded yet; whoever runs the server is told why."
        return "It is recorded."

    def episode(self) -> Episode:
        """The record of the incident once it is over."""
        return self.table.session.episode(self.config.player)


START_PARAMETERS: dict[str, dict[str, Any]] = {
    "tier": {"type": "string", "enum": list(TIERS), "description": "how hard; the present one's if left out"},
    "index": {"type": "integer", "minimum": 0, "description": "which incident, from 0; the next one if left out"},
    "abandon": {"type": "boolean", "description": "leave an incident that is going on; your seats wait to its end"},
}
"""Schemas of the arguments of `start_incident`, none of them required."""

SESSION_TOOLS = (
    ToolListing(
        START,
        "Begin another incident: new system, new names. Refused while one is going on, unless you abandon it.",
        {"type": "object", "properties": START_PARAMETERS, "required": []},
        read_only=False,
    ),
    ToolListing(
        LOOK,
        "Show again what your seat was told in this turn; after the end, the score. Takes no time.",
        {"type": "object", "properties": {}, "required": []},
        read_only=True,
    ),
    ToolListing(
        BRIEF,
        "Show the job, the rules and the system of this incident. Takes no time.",
        {"type": "object", "properties": {}, "required": []},
        read_only=True,
    ),
)
"""The tools of the shift itself; they take no turn."""


def _recordable(arguments: Mapping[str, Any]) -> Mapping[str, Any] | str:
    """Arguments that a record can hold; of others a text is left, which the environment refuses."""
    try:
        size = len(json.dumps(arguments, allow_nan=False))
    except ValueError:
        return "a number that is not finite"
    return arguments if size <= LONGEST_ARGUMENTS else f"{size} characters"
