"""What is to be played: the matrix of scenarios, tiers, seeds and policies."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from typing import TYPE_CHECKING, Any

from warroom.core.errors import IncompatibleTopology, UnknownName, describe_error
from warroom.core.options import Options
from warroom.core.salt import Salt
from warroom.core.scenario import TIERS
from warroom.core.spec import EpisodeSpec
from warroom.core.splits import parse_split, seed_of
from warroom.envs import env_spec, find, make, scenario_id, suite
from warroom.policies import PolicySet, policy_set, user_policy_set
from warroom.policies.names import policies_in
from warroom.policies.user import PolicySource
from warroom.runs import EpisodeKey

if TYPE_CHECKING:
    from warroom.policies.llm.client import LLMClient


@dataclass(frozen=True)
class Shard:
    """One of several parts of a plan that are played apart, on several machines for instance."""

    index: int
    """From 1."""
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


@dataclass(frozen=True)
class EpisodeMatrix:
    """Which episodes an evaluation plays: every policy on every incident, or one shard of the incidents."""

    env: str
    scenarios: tuple[str, ...]
    """Scenario ids of `env`."""
    tiers: tuple[str, ...]
    policies: tuple[str, ...]
    """Who plays, as `warroom.policies.policy_set` reads it."""
    seeds: tuple[int, ...]
    """Indices within the split."""
    split: str = "test"
    attempts: int = 1
    """Times that each policy meets each incident: more than one only tells something of a policy that samples."""
    options: Options = field(default_factory=Options)
    """What episodes are built from besides, in the environment's own type; `Options()` for its defaults."""
    shard: Shard | None = None
    """Which part of the incidents is played: each count-th one; None plays all of them."""
    salt: Salt | None = None
    """The secret that incidents are drawn under, or the commitment to it; None for incidents that anybody can draw."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "EpisodeMatrix":
        """The matrix that a `run.json` describes. Its policies need not be there: nothing can be played by it."""
        try:
            lists = {name: tuple(config[name]) for name in ("scenarios", "tiers", "policies", "seeds")}
            options = env_spec(config["env"]).options.parse(config["options"], config["env"])
            shard = parse_shard(config["shard"]) if "shard" in config else None
            salt = Salt(config["salt"]) if "salt" in config else None
            return cls(
                config["env"], **lists, split=config["split"], attempts=config["attempts"], options=options,
                shard=shard, salt=salt,
            )  # fmt: skip
        except (KeyError, TypeError) as error:
            raise ValueError(f"it is not the configuration of an evaluation: {describe_error(error)}") from error

    def __len__(self) -> int:
        return len(self._incidents()) * len(self.policies) * self.attempts

    def matrix(self) -> list[EpisodeKey]:
        """Every episode in the order in which the run folder lists them, attempts one after another."""
        return [
            EpisodeKey(self._drawn(EpisodeSpec(scenario, tier, seed, self.options, attempt)), policy)
            for scenario, tier, seed in self._incidents()
            for policy in self.policies
            for attempt in range(self.attempts)
        ]

    def _drawn(self, spec: EpisodeSpec) -> EpisodeSpec:
        return spec if self.salt is None else self.salt.apply(spec)

    def _incidents(self) -> list[tuple[str, str, int]]:
        seeds = [seed_of(self.split, index) for index in self.seeds]
        incidents = list(product(self.scenarios, self.tiers, seeds))
        return incidents if self.shard is None else incidents[self.shard.index - 1 :: self.shard.count]


@dataclass(frozen=True)
class Plan(EpisodeMatrix):
    """The resolved configuration of an evaluation; making one checks every name (`ValueError` for a wrong one)."""

    baseline: str | None = None
    """The policy that others are compared with; None compares nothing."""
    objects: Mapping[str, PolicySource] = field(default_factory=dict)
    """Policies that are classes or functions of this process, by the names that `policies` gives them."""

    def __post_init__(self) -> None:
        kind = env_spec(self.env).options
        parse_split(self.split)
        for name in ("scenarios", "tiers", "policies", "seeds"):
            _check_list(name, getattr(self, name))
        for scenario in self.scenarios:
            _check_scenario(self.env, scenario)
        for tier in self.tiers:
            if tier not in TIERS:
                raise UnknownName("tier", tier, TIERS)
        for policy in self.policies:
            if policy not in self.objects:
                _check_policy(self.env, policy)
        if self.baseline is not None and self.baseline not in self.policies:
            raise UnknownName("baseline", self.baseline, self.policies)
        if type(self.options) is Options:
            object.__setattr__(self, "options", kind())
        if not isinstance(self.options, kind):
            raise ValueError(f"options of {self.env} must be {kind.__name__}, got {self.options!r}")
        if self.attempts < 1:
            raise ValueError(f"attempts must be at least 1, got {self.attempts}")
        if self.shard is not None and not len(self):
            raise ValueError(f"shard {self.shard} is empty: there are fewer incidents than shards; choose fewer shards")

    def policy_sets(self, client: "LLMClient | None" = None) -> dict[str, PolicySet]:
        """Who plays, by name, API models through `client`. Models are not loaded yet."""
        return {
            policy: user_policy_set(self.env, self.objects[policy])
            if policy in self.objects
            else policy_set(self.env, policy, client)
            for policy in self.policies
        }

    def config(self) -> dict[str, Any]:
        """The plan as `run.json` holds it."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "objects"}
        config = {name: list(value) if type(value) is tuple else value for name, value in values.items()}
        del config["shard"], config["salt"]
        more = {"shard": str(self.shard)} if self.shard is not None else {}
        more |= {"salt": self.salt.commitment} if self.salt is not None else {}
        return config | {"options": self.options.to_json()} | more


def scenarios_of(env: str, suite_name: str | None, names: str | None) -> tuple[str, ...]:
    """Scenario ids: those that are named (with or without `ENV/`), else those of the suite."""
    if names is None:
        return tuple(suite(env, suite_name))
    return tuple(scenario_id(env, name) for name in split_commas(names))


def applicable_scenarios(
    scenarios: tuple[str, ...], tiers: tuple[str, ...], seeds: list[int], options: Options
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The scenarios that can happen under these options, and the others with the reason why not.

    A drawn topology carries every scenario; an imported one may lack the kind of service that a fault strikes.
    """
    left_out = {}
    for scenario in scenarios if "topology" in options.to_json() else ():
        try:
            for tier, seed in product(tiers, seeds):
                make(EpisodeSpec(scenario, tier, seed, options))
        except IncompatibleTopology as error:
            left_out[scenario] = str(error)
    return tuple(scenario for scenario in scenarios if scenario not in left_out), left_out


def split_commas(text: str) -> tuple[str, ...]:
    """The parts of a comma-separated list."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_shard(text: str) -> Shard:
    """A part of a plan such as `2/3`; a `ValueError` says how it is written."""
    index, slash, count = text.partition("/")
    if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise ValueError(f"a shard is written INDEX/COUNT with an index from 1, such as 2/3, got {text!r}")
    return Shard(int(index), int(count))


def parse_seeds(text: str) -> tuple[int, ...]:
    """Indices of incidents: `5` is the first five, `0,3,7` are these, `10-19` a range; lists may hold ranges."""
    try:
        if text.strip().isdecimal():
            found = list(range(int(text)))
        else:
            found = [index for part in split_commas(text) for index in _range(part)]
    except ValueError as error:
        raise ValueError(
            f"seeds must be a count (5), a list (0,3,7) or a range (10-19) of numbers from 0, got {text!r}"
        ) from error
    if not found:
        raise ValueError(f"seeds must name at least one incident, got {text!r}")
    return tuple(dict.fromkeys(found))


def _range(part: str) -> range:
    first, dash, last = part.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise ValueError(part)
    return range(int(first), int(last if dash else first) + 1)


def _check_list(name: str, values: tuple[object, ...]) -> None:
    if not values:
        raise ValueError(f"an evaluation needs at least one of its {name}")
    twice = [value for value in dict.fromkeys(values) if values.count(value) > 1]
    if twice:
        raise ValueError(f"{name} names {twice[0]!r} twice")


def _check_scenario(env: str, scenario: str) -> None:
    environment, _ = find(scenario)
    if environment.name != env:
        raise ValueError(f"{scenario!r} is not of the environment {env!r}; evaluate one environment at a time")


def _check_policy(env: str, policy: str) -> None:
    policy_set(env, policy)
    if "human" in policies_in(policy):
        raise ValueError("an evaluation plays by itself; a person plays with: warroom play SCENARIO --policy human")
