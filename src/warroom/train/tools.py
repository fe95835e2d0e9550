"""Seats as a trainer takes them: a class with `reset`, `get_reward`, and one public method for each tool."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from typing import Any, TypeVar

from warroom.core.renderer import Renderer
from warroom.core.schemas import tool_schemas
from warroom.core.splits import Split, for_training, seed_of
from warroom.envs import environments, make, suite
from warroom.policies import PolicySet
from warroom.session import Play, together
from warroom.train.seat import Clock, Host, Rollout, SeatRollout

Result = TypeVar("Result")
TYPES: dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list[str]}


@dataclass(frozen=True)
class RolloutConfig:
    """What all rollouts of a run have in common."""

    env: str
    language: str
    team: PolicySet | None
    """Who plays the seats that are not trained in a rollout; None where a host sees to them."""
    options: Mapping[str, Any] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    ready: deque[Rollout] = field(default_factory=deque)
    """Rollouts that were begun together; the next resets take them, in order."""
    host: Host | None = None
    """Who plays the incidents; None plays them in this process."""

    @property
    def side_by_side(self) -> bool:
        """Whether to play incidents side by side: a model plays colleagues, or a host has to be waited for."""
        return self.host is not None or (self.team is not None and bool(self.team.models))

    def rollout(self, seat: str, scenario: str, tier: str, seed: int, multiplier: float, **row: object) -> Rollout:
        """The incident of a dataset row, not yet begun."""
        options = {**self.options, **multiplier_option(self.env, multiplier)}
        if self.host is not None:
            return Rollout(seat, self.host.place(seat, scenario, tier, seed, options))
        assert self.team is not None, "somebody has to play the other seats"
        return SeatRollout(scenario, tier, seed, seat, self.team, self.language, options)

    def together(self, plays: Sequence[Play[Result]]) -> list[Result]:
        """Play parts of several incidents side by side. A host's time counts as the environment's; a colleague's
        thoughts do not."""
        if self.host is None:
            return together(plays)
        with self.clock.running():
            return self.host.together(plays)


class SeatAdapter:
    """One rollout at a time; the trainer uses an instance again for the next one, so `reset` builds a new incident.

    Public names would become tools: a subclass adds the seat's tools, and everything else begins with an underscore.
    """

    _rollout_config: RolloutConfig
    _name: str
    """The seat."""
    _rollout: Rollout
    _answers: deque[str]
    """What calls that were played ahead are answered, in order."""

    def reset(self, **row: Any) -> str:
        """Begin the incident of a dataset row and return the text of the seat's first page."""
        rollout_config, self._answers = self._rollout_config, deque[str]()
        with rollout_config.clock.running():
            self._rollout = (
                rollout_config.ready.popleft() if rollout_config.ready else rollout_config.rollout(self._name, **row)
            )
            assert self._rollout.seat == self._name, "begun in another order than reset"
            return self._rollout.opening()

    def get_reward(self) -> float:
        """The team's score, after the colleagues have played the incident to its end."""
        with self._rollout_config.clock.running():
            return self._rollout.reward()

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        if self._answers:
            return self._answers.popleft()
        with self._rollout_config.clock.running():
            return self._rollout.call(name, arguments)


def multiplier_option(env: str, multiplier: float) -> dict[str, float]:
    """The option that carries a row's rogue multiplier, where there are rogues."""
    known = "rogue_multiplier" in environments()[env].options
    if not known and multiplier != 1.0:
        raise ValueError(f"{env} has no rogue_multiplier, got {multiplier}; leave it at 1.0")
    return {"rogue_multiplier": multiplier} if known else {}


def seat_class(rollout_config: RolloutConfig, seat: str) -> type[SeatAdapter]:
    """The class of one seat; making an instance takes no arguments."""
    functions = [
        _method(schema["function"])
        for schema in tool_schemas(
            any_renderer(rollout_config.env, rollout_config.language, seat, rollout_config.options)
        )
    ]
    body: dict[str, Any] = {function.__name__: function for function in functions}
    taken = [name for name in body if hasattr(SeatAdapter, name)]
    assert not taken, f"tools of {rollout_config.env} may not be called {', '.join(taken)}"
    return type(
        environment_name(rollout_config.env, seat),
        (SeatAdapter,),
        {**body, "_rollout_config": rollout_config, "_name": seat},
    )


def environment_name(env: str, seat: str) -> str:
    """What a dataset row calls the environment of a seat, such as `fleet_sre`."""
    return f"{env}_{seat}"


def any_renderer(env: str, language: str, seat: str, options: Mapping[str, Any]) -> Renderer:
    """The language of a seat in some incident of the training split: the schemas are the same in all."""
    incident = make(for_training(suite(env))[0], "easy", seed_of(Split.TRAIN, 0), **options)
    return environments()[env].renderers[language](incident.brief(seat))


def _method(schema: Mapping[str, Any]) -> Callable[..., str]:
    """A function that looks like the schema and passes on whatever it is given: the environment judges the call."""
    name, parameters = schema["name"], schema["parameters"]
    kinds = {key: TYPES[field["type"]] for key, field in parameters["properties"].items()}
    required = parameters.get("required", [])

    def method(self: SeatAdapter, /, **arguments: Any) -> str:
        return self._call(name, arguments)

    described = [f"    {key}: {field['description']}" for key, field in parameters["properties"].items()]
    method.__name__ = method.__qualname__ = name
    method.__doc__ = "\n".join([schema["description"], "", "Args:", *described]) if kinds else schema["description"]
    method.__annotations__ = dict(kinds)
    method.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter("self", Parameter.POSITIONAL_ONLY),
            *[
                Parameter(
                    key,
                    Parameter.KEYWORD_ONLY,
                    annotation=kind,
                    default=Parameter.empty if key in required else None,
                )
                for key, kind in kinds.items()
            ],
        ]
    )
    return method
