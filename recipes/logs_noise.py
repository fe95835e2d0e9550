"""The declared and the measured share of lines that have nothing to do with the incident, by family and tier. A minute."""

import sys

from warroom.core.scenario import TIERS
from warroom.core.splits import seed_of
from warroom.envs import make, suite
from warroom.envs.logs.env import LogTriage

SEEDS = int(sys.argv[1]) if len(sys.argv) > 1 else 50


def watched(scenario: str, tier: str, k: int) -> LogTriage:
    """An incident that nobody touches, read to the end of its budget."""
    env = make(scenario, tier, seed_of("test", k))
    assert isinstance(env, LogTriage)
    while not env.done:
        env.observe()
        env.step(env.brief(env.seat).idle)
    return env


def main() -> None:
    print("| family | tier | lines | declared % | measured % |\n| --- | --- | --- | --- | --- |")
    for scenario in suite("logs", "full"):
        for tier in TIERS:
            played = [watched(scenario, tier, k) for k in range(SEEDS)]
            lines = sum(env.related + env.unrelated for env in played)
            if lines:  # where nothing is wrong no line is related
                measured = 100 * sum(env.unrelated for env in played) / lines
                print(f"| {scenario} | {tier} | {lines} | {100 * played[0].incident.noise:.0f} | {measured:.1f} |")


if __name__ == "__main__":
    main()
