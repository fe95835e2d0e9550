"""Scripted play of mixed quality, as conversations: what the warm start imitates. The oracle never plays here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from warroom.core.env import Env
from warroom.core.rng import stream
from warroom.core.scenario import TIERS
from warroom.core.splits import Split, for_training, seed_of
from warroom.envs import environments, make, suite
from warroom.policies import team
from warroom.policies.dialogue import Dialogue

OTHERS = ("heuristic", "keyword", "random")
"""Who plays a seat that the expert does not play, and who slips into its turns."""


@dataclass(frozen=True)
class Mixture:
    """How good the play is that a model imitates."""

    expert: float = 0.93
    """Share of seats that the expert plays; the others are played by naive scripts."""
    slips: float = 0.06
    """Share of turns that begin with another script's call in place of the seat's own."""

    def __post_init__(self) -> None:
        for name in ("expert", "slips"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"the share of {name} must lie in 0..1, got {getattr(self, name)}")


@dataclass(frozen=True)
class Demonstration:
    """One seat's conversation of one incident."""

    seat: str
    messages: list[dict[str, object]]
    score: float
    """Of the team: 0 as the no-op policy, 1 as the oracle."""


def demonstrate(env: Env, mixture: Mixture, language: str, rng: Random) -> list[Demonstration]:
    """Play one incident and return a conversation for each seat."""
    makers = {name: team(env.name, name) for name in ("expert", *OTHERS)}
    spoken = environments()[env.name].languages[language]
    own, other, dialogues = {}, {}, {}
    for seat in env.SEATS:
        name = "expert" if rng.random() < mixture.expert else rng.choice(OTHERS)
        own[seat] = makers[name].seat(env, seat)
        other[seat] = makers[rng.choice(OTHERS)].seat(env, seat)
        dialogues[seat] = Dialogue(spoken(env.brief(seat)))
    while not env.done:
        seat, observation, dialogue = env.seat, env.observe(), dialogues[env.seat]
        dialogue.see(observation)
        call = own[seat].act(observation)
        if env.reads == 0:
            slip = other[seat].act(observation)  # it has to see every page, heard or not
            call = slip if rng.random() < mixture.slips else call
        env.step(dialogue.call(*dialogue.language.phrase(call)))
    score = env.score()
    return [Demonstration(seat, dialogues[seat].messages, score) for seat in env.SEATS if dialogues[seat].messages]


def demonstrations(
    env: str, mixture: Mixture, language: str, seed: int, tiers: Sequence[str] = TIERS
) -> Iterator[list[Demonstration]]:
    """Endless play of the training split's incidents, one list per incident."""
    scenarios, index = for_training(list(suite(env, None if env != "fleet" else "full"))), 0
    while True:
        rng = stream(seed, "demonstration", index)
        scenario, tier = rng.choice(scenarios), rng.choice(list(tiers))
        incident = make(scenario, tier, seed_of(Split.TRAIN, seed * 10_000_000 + index))
        yield demonstrate(incident, mixture, language, rng)
        index += 1
