"""What a client may choose at a reset, read and checked; whatever is wrong is answered with what is allowed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from warroom.core.errors import IncompatibleTopology, UnknownName, quote_input
from warroom.core.rng import hash_bytes, shuffle, stream
from warroom.core.scenario import TIERS
from warroom.core.splits import SEEDS_PER_SPLIT, Split, held_out, parse_split, seed_of
from warroom.envs import environments, find, scenarios
from warroom.policies import COMMON_POLICIES, PolicySet, hf, policy_set
from warroom.serve.table import Table
from warroom.serve.tasks import Incident, incidents, playable

REWARDS = ("final", "dense")
LONGEST_TOPOLOGY = 100_000
"""Characters of an imported topology that a client may send."""
LARGEST_NUMBER = 1000.0
"""Of a multiplier."""
MANY_ARTICLES = 200
"""A knowledge base beyond this size takes long enough to write that other sessions would notice."""
COMMON_OPTIONS = ("split", "index", "suite", "scenario", "tier", "renderer", "rewards")
MULTI_SEAT_OPTIONS = ("seats", "teammates")
"""Choices where there is more than one seat."""


class BadRequest(ValueError):
    """A client asked for what is not to be had; the message goes back to it."""


# -- readers of single values ---------------------------------------------------------------------


def text(name: str, value: object) -> str:
    """A short text."""
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a text, got {quote_input(value)}")
    return value


def whole_number(name: str, value: object) -> int:
    """A whole number from 0."""
    if type(value) is not int or value < 0:
        raise BadRequest(f"{name} must be a whole number from 0, got {quote_input(value)}")
    return value


def number(name: str, value: object) -> float:
    """A number above 0, and no larger than any use has for it."""
    if type(value) not in (int, float) or not 0 < value <= LARGEST_NUMBER:  # type: ignore[operator]
        raise BadRequest(f"{name} must be a number above 0 and at most {LARGEST_NUMBER:g}, got {quote_input(value)}")
    return float(value)  # type: ignore[arg-type]


def split_name(name: str, value: object) -> str:
    """The name of a split."""
    return parse_split(text(name, value)).value


def topology(name: str, value: object) -> str:
    """A kind of system by name, or the JSON text of an imported one; never a path."""
    given = text(name, value)
    if len(given) > LONGEST_TOPOLOGY:
        raise BadRequest(f"{name} has {len(given)} characters; at most {LONGEST_TOPOLOGY} are allowed")
    return given


Reader = Callable[[str, object], Any]
ENVIRONMENT_OPTIONS: dict[str, dict[str, Reader]] = {
    "fleet": {"rogue_multiplier": number, "topology": topology, "names": split_name, "wording": split_name},
    "logs": {"topology": topology, "names": split_name, "wording": split_name},
    "tickets": {"mode": text, "quality": text, "calibration": number, "articles": whole_number, "wording": split_name},
}
"""Options of the environments that a client may set: none that reads files of the server, or calls others."""


def reset_options(env: str) -> tuple[str, ...]:
    """Every choice of a reset in `env`, besides seed and episode_id."""
    return (
        *COMMON_OPTIONS,
        *(MULTI_SEAT_OPTIONS if len(environments()[env].seats) > 1 else ()),
        *ENVIRONMENT_OPTIONS[env],
    )


# -- one reset -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ResetRequest:
    """What a client asked for, checked."""

    env: str
    incident: Incident | None
    """None if the scenario is to be drawn."""
    scenarios: tuple[str, ...] = ()
    """What the scenario is drawn from."""
    split: str = Split.TRAIN.value
    tier: str = TIERS[0]
    number: int = 0
    """Which incident of the split."""
    seats: tuple[str, ...] = ()
    policy_set: PolicySet | None = None
    renderer: str = "plain"
    dense: bool = False
    named: bool = False
    """Whether the client named the scenario, so that it is no secret."""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_slow(self) -> bool:
        """Whether the incident takes long to build or to play, so that other sessions should not wait for it."""
        large = self.options.get("articles", 0) > MANY_ARTICLES or len(self.options.get("topology", "")) > 20
        return large or self.has_model_teammates

    @property
    def has_model_teammates(self) -> bool:
        """Whether a model plays colleagues."""
        return self.policy_set is not None and bool(self.policy_set.models)

    def table(self) -> Table:
        """Build the incident; a `Declined` says why there is none, and names no scenario that the client did not."""
        try:
            return self._first_that_fits() if self.incident is None else self._built(self.incident)
        except ValueError as error:
            if self.named or not _reveals_scenario(str(error)):
                raise BadRequest(str(error)) from error
        raise BadRequest("there is no such incident with these options; choose another seed, index or option")

    def _first_that_fits(self) -> Table:
        seed, order = seed_of(self.split, self.number), list(self.scenarios)
        shuffle(stream(seed, "serve", "scenario", self.tier), order)
        for scenario in order[:-1]:
            try:
                return self._built(Incident(scenario, self.tier, seed))
            except IncompatibleTopology:
                continue
        return self._built(Incident(order[-1], self.tier, seed))

    def _built(self, incident: Incident) -> Table:
        return Table(*incident, self.seats, self.policy_set, self.renderer, self.options)


def _reveals_scenario(message: str) -> bool:
    """Whether a text names a scenario, which often is the cause's own name."""
    return any(name.rpartition("/")[2] in message for name in scenarios())


def parse_reset_request(
    env: str, seed: object, given: Mapping[str, Any], default_team: str, allow_oracle: bool
) -> ResetRequest:
    """What a reset asks for. A `Declined` or `Unknown` says what is wrong and what is allowed.

    `default_team` plays where the client names no teammates; only a `truthful` server lets the oracle sit beside.
    """
    for name in given:
        if name not in reset_options(env):
            raise UnknownName("reset option", name, ("seed", "episode_id", *reset_options(env)))
    split = split_name("split", given.get("split", Split.TRAIN.value))
    seats = _seats(env, given.get("seats"))
    options = {name: read(name, given[name]) for name, read in ENVIRONMENT_OPTIONS[env].items() if name in given}
    return ResetRequest(
        env,
        **_select_incident(env, split, seed, given),
        split=split,
        seats=seats,
        policy_set=_teammates(env, seats, given.get("teammates"), default_team, allow_oracle),
        renderer=_one_of("renderer", given.get("renderer", "plain"), environments()[env].renderers),
        dense=_one_of("rewards", given.get("rewards", REWARDS[0]), REWARDS) == "dense",
        options=options,
    )


def _select_incident(env: str, split: str, seed: object, given: Mapping[str, Any]) -> dict[str, Any]:
    """The incident, or what it is drawn from."""
    index = None if seed is None else _index(whole_number("seed", seed))
    named = _one_of("suite", given["suite"], environments()[env].suites) if "suite" in given else None
    if "index" in given:
        return _of_task(env, split, whole_number("index", given["index"]), index, named, given)
    tier = _one_of("tier", given.get("tier", TIERS[0]), TIERS)
    drawn = {"tier": tier, "number": index or 0}
    if "scenario" not in given:
        return {"incident": None, "scenarios": playable(env, split, named), **drawn}
    if named is not None:
        raise BadRequest("scenario names the incident's family itself: leave suite out")
    scenario = _scenario(env, split, text("scenario", given["scenario"]))
    return {"incident": Incident(scenario, tier, seed_of(split, index or 0)), "named": True, **drawn}


def _of_task(
    env: str, split: str, task: int, index: int | None, named: str | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    for name in ("scenario", "tier"):
        if name in given:
            raise BadRequest(f"index names a task, which has its own {name}: leave {name} out, or index")
    found = incidents(env, split, named)
    if task >= len(found):
        raise BadRequest(f"a task of {split} has an index from 0 to {len(found) - 1}, got {task}")
    chosen = found[task] if index is None else found[task]._replace(seed=seed_of(split, index))
    return {"incident": chosen, "tier": chosen.tier}


def _index(seed: int) -> int:
    """The incident that a seed means: a number beyond those of a split is brought there by a hash."""
    return seed if seed < SEEDS_PER_SPLIT else int.from_bytes(hash_bytes(8, seed, "serve", "seed")) % SEEDS_PER_SPLIT


def _scenario(env: str, split: str, name: str) -> str:
    scenario = name if "/" in name else f"{env}/{name}"
    owner, _, rest = scenario.partition("/")
    if owner != env or rest.endswith(".py"):
        raise UnknownName("scenario", name, [id for id in scenarios() if id.startswith(env + "/")])
    find(scenario)
    if held_out(scenario) is not None and split == Split.TRAIN:
        raise BadRequest(f"{scenario} is kept from training; ask for it with split=dev or split=test")
    return scenario


def _seats(env: str, given: object) -> tuple[str, ...]:
    """The seats that the client plays, in the order of the table; all of them where it names none."""
    every = environments()[env].seats
    if given is None or given in ("all", [], ""):
        return every
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadRequest(f"seats must be a text such as {every[0]!r}, or a list of texts, got {quote_input(given)}")
    for name in names:
        _one_of(f"seat of {env}", name.strip(), every)
    return tuple(seat for seat in every if seat in {name.strip() for name in names})


def _teammates(env: str, seats: tuple[str, ...], given: object, default: str, allow_oracle: bool) -> PolicySet | None:
    if len(seats) == len(environments()[env].seats):
        if given is not None:
            raise BadRequest(
                "every seat is yours, so nobody can be a teammate: name your seats, or leave teammates out"
            )
        return None
    if given is None or given == default:
        return policy_set(env, default)
    named = text("teammates", given)
    allowed = available_teammates(env, allow_oracle)
    for part in named.split(","):
        # As `team` reads it: what stands before the first sign is a seat, or all of it is a policy.
        seat, equals, name = part.partition("=")
        if equals and seat not in (*environments()[env].seats, "rest"):
            raise UnknownName("seat", seat, (*environments()[env].seats, "rest"))
        policy = name if equals else seat
        if policy.partition("@")[0] not in allowed:
            raise UnknownName("teammate", policy, allowed)
    return policy_set(env, named)


def available_teammates(env: str, allow_oracle: bool) -> tuple[str, ...]:
    """Who may sit beside a client. The oracle knows the truth and could be read like a book."""
    names = {*COMMON_POLICIES, *environments()[env].policies, *hf.shipped(env)} - {"human"}
    return tuple(sorted(names | ({"oracle"} if allow_oracle else set())))


def _one_of(kind: str, value: object, allowed: Any) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise UnknownName(kind, value, tuple(allowed))
    return value
