"""API models as policies: `llm:MODEL` for any model behind an OpenAI-compatible server of chat completions.

Nothing heavy is imported before a model is to play. What a server fails at is infrastructure: such an episode is
unplayed, and no other policy ever plays in its place.
"""

from typing import TYPE_CHECKING, NamedTuple

from warroom.core.policy import Policy
from warroom.core.types import Brief
from warroom.policies.llm.options import ApiOptions, SpendingCaps

if TYPE_CHECKING:
    from warroom.policies.llm.client import LLMClient

__all__ = ["PREFIX", "ApiOptions", "RequestOrigin", "SpendingCaps", "is_llm", "model_of", "policy"]
PREFIX = "llm:"


class RequestOrigin(NamedTuple):
    """One seat of one episode: whose conversation a request belongs to."""

    policy: str
    """Who plays, as the command named it."""
    spec: str
    """The episode, as text."""
    seat: str

    def __str__(self) -> str:
        return f"{self.seat} of {self.policy} in {self.spec}"


def is_llm(name: str) -> bool:
    """Whether a policy's name means a model behind a server."""
    return name.startswith(PREFIX)


def model_of(name: str) -> str:
    """The model as its server calls it."""
    model = name.removeprefix(PREFIX)
    if not model.strip():
        raise ValueError(f"{name!r} names no model: write {PREFIX}MODEL, as the server calls it")
    return model


def policy(client: "LLMClient | None", name: str, place: RequestOrigin, brief: Brief) -> Policy:
    """A fresh seat for the model; without an exchange nobody said where its server is."""
    if client is None:
        raise ValueError(f"{name} plays behind a server: say where with --base-url (of warroom eval and warroom play)")
    return client.model(name).seat(place, brief)
