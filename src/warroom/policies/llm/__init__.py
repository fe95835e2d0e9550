"""API models as policies: `llm:MODEL` for any model behind an OpenAI-compatible server of chat completions.

Nothing heavy is imported before a model is to play. What a server fails at is infrastructure: such an episode is
unplayed, and no other policy ever plays in its place.
"""

from typing import TYPE_CHECKING, NamedTuple

from warroom.core.scenario import Policy
from warroom.core.splits import seed_in_words
from warroom.core.types import Brief
from warroom.policies.llm.options import Api, Caps

if TYPE_CHECKING:
    from warroom.policies.llm.exchange import Exchange

__all__ = ["PREFIX", "Api", "Caps", "Place", "is_llm", "model_of", "policy"]
PREFIX = "llm:"


class Place(NamedTuple):
    """One seat of one episode: whose conversation a request belongs to."""

    team: str
    """As the command named it."""
    scenario: str
    tier: str
    seed: int
    attempt: int
    seat: str

    def __str__(self) -> str:
        again = f", attempt {self.attempt}" if self.attempt else ""
        return f"{self.seat} of {self.team} in {self.scenario} {self.tier}, {seed_in_words(self.seed)}{again}"


def is_llm(name: str) -> bool:
    """Whether a policy's name means a model behind a server."""
    return name.startswith(PREFIX)


def model_of(name: str) -> str:
    """The model as its server calls it."""
    model = name.removeprefix(PREFIX)
    if not model.strip():
        raise ValueError(f"{name!r} names no model: write {PREFIX}MODEL, as the server calls it")
    return model


def policy(exchange: "Exchange | None", name: str, place: Place, brief: Brief) -> Policy:
    """A fresh seat for the model; without an exchange nobody said where its server is."""
    if exchange is None:
        raise ValueError(f"{name} plays behind a server: say where with --base-url (of warroom eval and warroom play)")
    return exchange.model(name).seat(place, brief)
