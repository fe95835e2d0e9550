"""How many distinct pairs of a ticket and its right answer 10,000 seeds give, for every kind and tier. Minutes.

The pair is what counts: sentences that say nothing make tickets differ even where nothing else does.

python recipes/distinct_tickets.py [SEEDS] [TIER ...]
"""

import sys
from collections import defaultdict
from hashlib import blake2b

from warroom.core.scenario import TIERS
from warroom.core.splits import seed_of
from warroom.envs import make, suite
from warroom.envs.tickets.env import TicketsEnv

LEAST = 0.999
"""Share of seeds that must differ."""


def short(*texts: str) -> bytes:
    return blake2b("\0".join(texts).encode(), digest_size=8).digest()


def distinct(tier: str, seeds: int) -> dict[str, tuple[int, int]]:
    """By kind: distinct pairs, and distinct answers alone."""
    pairs, answers = defaultdict[str, set[bytes]](set), defaultdict[str, set[bytes]](set)
    for k in range(seeds):  # kinds within seeds: they share a knowledge base
        for scenario in suite("tickets", "full"):
            env = make(scenario, tier, seed_of("train", k), mode="single")
            assert isinstance(env, TicketsEnv)
            pairs[scenario].add(short(env.case.text, env.case.reference))
            answers[scenario].add(short(env.case.reference))
    return {scenario: (len(pairs[scenario]), len(answers[scenario])) for scenario in pairs}


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    least = seeds
    for tier in sys.argv[2:] or TIERS:
        for scenario, (pairs, answers) in distinct(tier, seeds).items():
            least = min(least, pairs)
            print(f"{scenario:28} {tier:7} {pairs} of {seeds} pairs, {answers} answers", flush=True)
    print(f"least: {least} of {seeds} pairs: {'as it should be' if least >= LEAST * seeds else 'TOO FEW'}")


if __name__ == "__main__":
    main()
