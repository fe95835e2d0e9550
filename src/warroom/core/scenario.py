"""What an environment package declares about itself, and what one scenario file declares."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from warroom.core.env import Env
from warroom.core.renderer import PlainRenderer, RendererFactory, Vocab
from warroom.core.types import Brief, Observation, ToolCall

TIERS = ("easy", "medium", "hard")


class Policy(Protocol):
    """Anything that maps an observation to a tool call. One instance plays one seat of one episode."""

    def act(self, observation: Observation) -> ToolCall:
        """The next call, given the seat's page or the result of its last reading."""
        ...


class Thinker(Protocol):
    """What several seats share that answers many of them at once faster than one by one: a model.

    A policy that has one names it in its attribute `thinker`; its `act` is then that of a batch of one.
    """

    def answer(self, asked: Sequence[tuple[Any, Observation]]) -> list[ToolCall]:
        """The next call of each policy, given what its seat is shown."""
        ...


PolicyFactory = Callable[[Brief, Random], Policy]
"""Makes a policy for one seat from what that seat is told; the generator is the policy's own."""


class Scenario(Protocol):
    """One seeded family of incidents: what a scenario file's `SCENARIO` must offer."""

    @property
    def name(self) -> str:
        """The file's name without its suffix."""
        ...

    @property
    def story(self) -> str:
        """One sentence for a person."""
        ...

    @property
    def suites(self) -> tuple[str, ...]:
        """The evaluation suites that hold it."""
        ...


@dataclass(frozen=True)
class TrainingProfile:
    """How an environment's play is shown to a model that imitates it, and what is said of a model that learnt it."""

    behavior_policies: tuple[str, ...] = ("random",)
    """Policies that play a seat which `expert` does not play, and that slip into its turns."""
    never_injected: tuple[str, ...] = ()
    """Calls that do not slip in, for they would leave a script in the middle of what it has to say."""
    job: str = "play {seats}"
    """What a model was trained to do, behind the words "trained to"."""
    caution: str = ""
    """What its users have to be told, in whole sentences."""
    held_out_axes: str = "service names, graph shapes and wordings"
    """What besides incidents only the test draws."""


@dataclass(frozen=True)
class EnvSpec:
    """One of the games, as its package declares it in `ENVIRONMENT`."""

    name: str
    summary: str
    seats: tuple[str, ...]
    suites: tuple[str, ...]
    """First the default one."""
    build: Callable[[Any, str, int, Mapping[str, Any]], Env]
    """(scenario, tier, seed, options) -> an episode."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options that `build` knows, by name, each with one sentence of help."""
    policies: Mapping[str, PolicyFactory] = field(default_factory=dict)
    """The environment's own policies by name."""
    renderers: Mapping[str, RendererFactory] = field(default_factory=lambda: {"plain": PlainRenderer})
    """How its play can be put into words for a model, by name."""
    compact_vocab: Callable[[], Vocab] | None = None
    """The words of its compact rendering; None if it has none."""
    compact_options: Mapping[str, str] = field(default_factory=dict)
    """Options without which its compact rendering cannot be played."""
    read_only_tools: frozenset[str] = frozenset()
    """Tools that only look or wait."""
    training_profile: TrainingProfile = TrainingProfile()
