"""What passes between a client and an OpenEnv server: the call, what it is answered, and the state of the episode."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema

from warroom.serve.openenv_server import Action, Observation, State

Anything = Any
"""Typed for people in the schema, taken as it comes on the wire: the incident answers nonsense, at a turn's cost."""


class WarroomAction(Action):
    """One call of one tool by the seat whose turn it is."""

    model_config = ConfigDict(extra="allow", validate_assignment=False)

    tool: Annotated[Anything, WithJsonSchema({"type": "string"})] = Field(
        default=None, description="name of a tool of the acting seat"
    )
    arguments: Annotated[Anything, WithJsonSchema({"type": "object"})] = Field(
        default=None, description="arguments of the tool, by name"
    )
    metadata: Annotated[Anything, WithJsonSchema({"type": "object"})] = Field(
        default_factory=dict, description="not read"
    )


class WarroomObservation(Observation):
    """What a client is told: after a reset, and in answer to each call."""

    model_config = ConfigDict(validate_assignment=False)

    reward: float | None = Field(
        default=None,
        description="None after a reset. By default 0 at every call but the last, which brings the score of the "
        "incident, -1 to 1; with rewards=dense what the call changed in the score, -2 to 2, in sum the score",
    )
    seat: str = Field(description="whose turn it is; after the end, whose was the last")
    text: str = Field(description="what that seat is shown; the job stands before its first page")
    turn: int = Field(ge=0, description="turns spent")
    budget: int = Field(ge=1, description="turns that the incident lasts at most")
    refused: bool = Field(default=False, description="whether the call was wrong and cost its turn")
    tools: list[dict[str, Any]] = Field(
        default_factory=list, description="function schemas of the seat's tools, when it is shown its first page"
    )
    score: float | None = Field(
        default=None, description="once it is over: 0 as who does nothing, 1 as who knows the truth"
    )
    points: dict[str, float] = Field(default_factory=dict, description="once it is over: points by term")
    outcome: dict[str, bool | float | None] = Field(
        default_factory=dict, description="once it is over: what came of it, by metric"
    )
    trajectory_hash: str = Field(
        default="", description="once it is over: hash of the trajectory; equal play on equal incidents, equal hash"
    )
    spec: str = Field(
        default="",
        description="once it is over: the episode as one text, SCENARIO@TIER#SPLIT:INDEX; empty unless the client "
        "named the scenario itself",
    )


class DebugObservation(WarroomObservation):
    """What a client of a server with `--debug-truth` is told: the truth stands in every one, and marks it."""

    debug: bool = Field(default=True, description="this server tells the truth: nothing played here is a result")
    truth: dict[str, Any] = Field(
        default_factory=dict, description="scenario, tier, seed, and what only the rubric knows"
    )


class WarroomState(State):
    """Where an episode stands."""

    env: str = Field(default="", description="fleet, logs or tickets")
    seat: str = Field(default="", description="whose turn it is")
    seats: list[str] = Field(default_factory=list, description="the seats that the client plays")
    turn: int = Field(default=0, ge=0, description="turns spent")
    budget: int = Field(default=0, ge=0, description="turns that the incident lasts at most")
    done: bool = Field(default=False, description="whether it is over")
