"""Who may sit where: the policies that the page offers, and why one of them cannot play."""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from warroom.core.env import Env
from warroom.core.errors import Unknown
from warroom.core.scenario import Policy
from warroom.envs import environments
from warroom.policies import hf, policy_names, team
from warroom.policies.llm import PREFIX, is_llm

if TYPE_CHECKING:
    from warroom.policies.llm.exchange import Exchange

PERSON = "person"
"""The name of whoever looks at the page, where policies have theirs."""
TERMINAL = "human"
"""A person at the terminal, which a page has no use for."""
LONGEST_REASON = 300
"""Characters of a reason that is shown."""
_MODEL = Lock()


@dataclass(frozen=True)
class Offer:
    """What visitors may seat, besides themselves."""

    policies: tuple[str, ...] | None = None
    """Names in place of all that play in an environment."""
    typed: bool = True
    """Whether a model may be named that is not on the list: whoever types it reads folders of this machine."""
    exchange: "Exchange | None" = None
    """What models behind a server play through."""
    envs: tuple[str, ...] = field(default_factory=lambda: tuple(environments()))
    """The environments that may be chosen; an incident of the first lies on the table."""

    def __post_init__(self) -> None:
        """Refuse a name that no environment knows and that means no model, and environments that there are not."""
        for env in self.envs:
            if env not in environments():
                raise Unknown("environment", env, environments())
        known = {name for env in environments() for name in policy_names(env)} - {TERMINAL}
        for name in self.policies or ():
            if name not in known and not is_model(name):
                raise Unknown("policy", name, [*known, hf.PREFIX + "PATH", PREFIX + "MODEL"])

    def names(self, env: str) -> list[str]:
        """The names for a seat of `env`: scripts first, then models, then a person."""
        known = [name for name in policy_names(env) if name != TERMINAL]
        if self.policies is not None:
            known = [name for name in self.policies if name in known or ":" in name]
        return [*sorted(known, key=is_model), PERSON]

    def check(self, env: str, name: str) -> None:
        """Refuse what is neither offered nor a model that may be typed."""
        if env not in self.envs:
            raise Unknown("environment", env, self.envs)
        if name not in self.names(env) and not (self.typed and name.startswith((hf.PREFIX, PREFIX))):
            raise Unknown("policy", name, self.names(env))


def is_model(name: str) -> bool:
    """Whether a policy may be missing through no fault of ours: weights, a server, a library."""
    return hf.is_model(name) or is_llm(name)


def models(names: Collection[str]) -> list[str]:
    """Those of the names that may take time."""
    return [name for name in dict.fromkeys(names) if is_model(name)]


def alone(name: str) -> AbstractContextManager[object]:
    """Within it no other model of this machine loads or writes; scripts and servers are not held up."""
    return _MODEL if hf.is_model(name) else nullcontext()


def seated(
    env: Env, names: Mapping[str, str], exchange: "Exchange | None" = None
) -> tuple[dict[str, Policy], dict[str, str]]:
    """A fresh policy by seat, and by seat the reason why its model cannot play. Loads models; persons have none."""
    policies, reasons = dict[str, Policy](), dict[str, str]()
    for seat, name in names.items():
        if name == PERSON:
            continue
        try:
            with alone(name):
                policies[seat] = _policy(env, seat, name, exchange)
        except Exception as error:  # a folder of weights may raise whatever its libraries raise
            if not is_model(name):
                raise
            reasons[seat] = reason_of(error)
    return policies, reasons


def _policy(env: Env, seat: str, name: str, exchange: "Exchange | None") -> Policy:
    if is_llm(name) and exchange is None:
        raise ValueError("it plays behind a server, and this page was started without --base-url")
    if is_llm(name) and exchange is not None and name not in exchange.decisions:
        from warroom.policies.llm.preflight import decide

        decide(exchange, name, env)
    return team(env.name, name, exchange).seat(env, seat)


def reason_of(error: Exception) -> str:
    """The first line of an error, for whoever looks at the page."""
    text = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"
