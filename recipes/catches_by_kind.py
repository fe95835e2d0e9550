"""Rogues of a run of the fleet by the family of their change and by the rule that they broke: how many were caught.

    python recipes/catches_by_kind.py RUN [RUN ...]

A rogue is caught if it was suspended with the right ground. For models that were trained without some of them
(`warroom train --leave-out family=evict,ground=out_of_window`). Episodes of one policy in several runs are one sample.
"""

import sys
from collections import defaultdict
from pathlib import Path

from warroom.envs import env_spec, make
from warroom.episode import Episode
from warroom.evals.statistics import share
from warroom.runs import read_episodes


def kinds_of(episode: Episode) -> list[str]:
    """What is drawn of the rogues of its incident, such as `ground over_limit`."""
    truth = env_spec("fleet").training_profile.drawn_truth
    assert truth is not None
    return [f"{name} {value}" for name, values in truth.of(make(episode.spec)).items() for value in values]


def main() -> None:
    """A line for each policy and kind of rogue."""
    if not sys.argv[1:]:
        sys.exit(__doc__)
    played: dict[tuple[str, str], list[Episode]] = defaultdict(list)
    for episode in [episode for folder in sys.argv[1:] for episode in read_episodes(Path(folder))]:
        for kind in ["any", *kinds_of(episode)] if episode.outcome["rogue_catch"] is not None else ():
            played[episode.policy, kind].append(episode)
    for (policy, kind), episodes in sorted(played.items()):
        caught = [bool(episode.outcome["rogue_catch"]) for episode in episodes]
        found = share(caught, [episode.spec for episode in episodes])
        interval = f"{found.mean:.0%} ({found.lo:.0%} to {found.hi:.0%})"
        print(f"{policy:40} {kind:24} {sum(caught):3} of {len(caught):3}: {interval}")


if __name__ == "__main__":
    main()
