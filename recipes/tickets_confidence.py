"""Is confidence worth stating on every kind of ticket? The Brier skill of an honest estimator over the best constant.

A reader opens a part of the documents that come with a ticket and answers from them, each third time by patterns
instead of reading. It knows how many documents it has not seen, how it went about it and what it found. Whether such
answers are right is estimated from that by a logistic regression fitted on other tickets, without the kind. The best
constant is each kind's own share of right answers. Minutes.

python recipes/tickets_confidence.py [SPLIT] [TICKETS OF EACH KIND] [TIER]
"""

import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from warroom.core.splits import seed_of
from warroom.envs import make, suite
from warroom.envs.tickets.env import TicketsEnv
from warroom.envs.tickets.policies import POLICIES
from warroom.envs.tickets.views import TicketsObservation
from warroom.evals.calibration import calibration

FOLDS, SPREAD, PATTERNS = 5, 4, 1 / 3
"""Parts of the tickets that are estimated from the others; seeds between two tickets of a kind;
share of tickets that are answered by patterns."""


class Read(NamedTuple):
    """A ticket that was answered from a part of its documents."""

    kind: str
    seed: int
    seen: float
    """Share of the documents at hand that the reader opened."""
    escalated: bool
    cited: int
    careful: bool
    """Whether it was read, and not looked through for patterns."""
    right: bool

    def features(self) -> list[float]:
        """What the reader knows of its own answer."""
        found = [self.seen, self.escalated, self.seen * self.escalated, self.cited == 1, self.cited > 1]
        return [
            self.careful,
            *[value * self.careful for value in found],
            *[value * (not self.careful) for value in found],
        ]


def read(scenario: str, tier: str, seed: int) -> Read:
    """One ticket."""
    rng = random.Random(f"{scenario} {seed}")
    env = make(scenario, tier, seed, mode="single")
    assert isinstance(env, TicketsEnv)
    page = env.observe()
    assert isinstance(page, TicketsObservation)
    share = rng.random()
    seen = tuple([document for document in page.context if rng.random() < share])
    careful = rng.random() > PATTERNS
    reader = POLICIES["expert" if careful else "heuristic"](env.brief("desk"), rng)
    env.step(reader.act(replace(page, context=seen)))
    answer = env.submitted
    assert answer is not None
    right = bool(env.outcome()["solved"])
    known, cited = len(seen) / len(page.context), len(answer.citations)
    return Read(env.case.kind, seed, known, answer.escalate, cited, careful, right)


def estimates(found: Sequence[Read]) -> list[float]:
    """How probable it is that each answer is right, fitted on the tickets of other seeds."""
    features, right = np.array([each.features() for each in found], float), [each.right for each in found]
    folds = GroupKFold(FOLDS).split(features, right, [each.seed for each in found])
    model = LogisticRegression(C=1.0, max_iter=500)
    return [float(row[1]) for row in cross_val_predict(model, features, right, cv=list(folds), method="predict_proba")]


def main() -> None:
    """Print the skill of each kind."""
    split = sys.argv[1] if len(sys.argv) > 1 else "dev"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    tier = sys.argv[3] if len(sys.argv) > 3 else "medium"
    found = [read(name, tier, seed_of(split, SPREAD * k)) for k in range(count) for name in suite("tickets", "full")]
    stated = estimates(found)
    print("| kind | tickets | right | Brier skill |\n| --- | --- | --- | --- |")
    for kind in sorted({each.kind for each in found}):
        rows = [(each, p) for each, p in zip(found, stated, strict=True) if each.kind == kind]
        said, right = [p for _, p in rows], [each.right for each, _ in rows]
        skill = calibration(said, right, [each.seed for each, _ in rows])["brier_skill"]
        text = "-" if skill is None else f"{skill.mean:.2f} ({skill.lo:.2f} to {skill.hi:.2f})"
        print(f"| {kind} | {len(rows)} | {np.mean(right):.2f} | {text} |")


if __name__ == "__main__":
    main()
