"""How many distinct first observations 10,000 seeds give, for every scenario and tier. Minutes on two cores.

python recipes/distinct_observations.py [SEEDS] [ENVIRONMENT]
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from hashlib import blake2b

from warroom.core.scenario import TIERS
from warroom.core.splits import seed_of
from warroom.envs import environments, make, suite

SEEDS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
ENVIRONMENTS = sys.argv[2:] or list(environments())


def distinct(cell: tuple[str, str]) -> tuple[str, str, int]:
    scenario, tier = cell
    seen = {
        blake2b(make(scenario, tier, seed_of("train", k)).observe().render().encode(), digest_size=8).digest()
        for k in range(SEEDS)
    }
    return scenario, tier, len(seen)


def main() -> None:
    cells = [(scenario, tier) for env in ENVIRONMENTS for scenario in suite(env, "full") for tier in TIERS]
    least = SEEDS
    with ProcessPoolExecutor(2) as pool:
        for scenario, tier, count in pool.map(distinct, cells):
            least = min(least, count)
            print(f"{scenario:32} {tier:7} {count} of {SEEDS}", flush=True)
    print(f"least: {least} of {SEEDS}")


if __name__ == "__main__":
    main()
