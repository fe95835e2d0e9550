"""What learners find in tickets, articles and pages that nobody has read, in every tier and both wordings. Minutes.

python recipes/tickets_leaks.py [SEEDS]: tickets of each kind to learn from, and as many others to be asked about.
"""

import sys
from pathlib import Path

from warroom.core.scenario import TIERS

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from learned_attacks.tickets import attack, best_match_is_right, first_is_right, longest_is_right, samples

LATER = 5000
"""Where the tickets begin that are asked about."""
PARTS = {"words of training": ("train", "dev"), "words of the test": ("test", "test")}


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 150
    for tier in TIERS:
        for name, (learnt, asked) in PARTS.items():
            known, unknown = samples(tier, learnt, range(seeds)), samples(tier, asked, range(LATER, LATER + seeds))
            print(f"{tier}, {name}: {len(known)} tickets to learn from, {len(unknown)} to be asked about")
            for what, area in attack(known, unknown).items():
                print(f"  area under the curve, {what}: {area:.3f}")
            both = [*known, *unknown]
            rules = {"the first document": first_is_right(both), "the longest procedure": longest_is_right(both)}
            rules |= {f"the best match, {kind}": guess for kind, guess in best_match_is_right(both).items()}
            for what, guess in rules.items():
                print(f"  {what} is right: {guess.hits:.2f}, by chance {guess.chance:.2f}, of {guess.n}", flush=True)


if __name__ == "__main__":
    main()
