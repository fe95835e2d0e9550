"""What recipes/llm_local.sh checks: that a cap held to the token, and that two runs made the same calls."""

import sys
from pathlib import Path

from warroom.policies.llm.ledger import read_lines
from warroom.runs import read_episodes


def spent(folder: Path, cap: int) -> None:
    lines = list(read_lines(folder))
    total = sum(sum(line["tokens"]) for line in lines if "outcome" in line)
    answered = sum(line.get("outcome") == "answered" for line in lines)
    episodes = len((folder / "episodes.jsonl").read_text().splitlines())
    print(f"{total} of {cap} tokens spent by {answered} requests; {episodes} episodes finished")
    assert total <= cap, "the cap did not hold"


def same(one: Path, other: Path) -> None:
    ours, theirs = (
        {
            (e.scenario, e.tier, e.seed): [(step.seat, step.tool, step.arguments) for step in e.steps]
            for e in read_episodes(folder)
        }
        for folder in (one, other)
    )
    equal = sum(ours[key] == theirs[key] for key in ours)
    print(f"{equal} of {len(ours)} episodes have the same calls")
    assert ours.keys() == theirs.keys() and equal == len(ours)


if __name__ == "__main__":
    if sys.argv[1] == "spent":
        spent(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        same(Path(sys.argv[2]), Path(sys.argv[3]))
