"""Is confidence worth stating on every kind of ticket? The Brier skill of an honest estimator over the best constant.

A reader in a hurry opens all the documents that come with a ticket, or a part of them, and answers from those. Where it
finds nothing and has not seen all, it answers with the best match. Whether such answers are right is estimated by a
logistic regression from what the reader knows (how much it saw, whether it guessed, what it submits), fitted on other
tickets, without the kind. The best constant is each kind's own share of right answers. Minutes.

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

FOLDS, SPREAD, WHOLE = 5, 4, 0.5
"""Parts of the tickets that are estimated from the others; seeds between two tickets of a kind; share of tickets that
the reader has the time to look at whole."""


class Read(NamedTuple):
    """A ticket that was answered from a part of its documents."""

    kind: str
    seed: int
    seen: float
    """Share of the documents at hand that the reader opened."""
    escalated: bool
    cited: int
    guessed: bool
    right: bool

    def features(self) -> list[float]:
        """What the reader knows of its own answer."""
        whole = self.seen == 1
        return [self.seen, whole, self.guessed, self.escalated, self.escalated and whole, self.cited > 1]


def read(scenario: str, tier: str, seed: int) -> Read:
    """One ticket."""
    rng = random.Random(f"{scenario} {seed}")
    env = make(scenario, tier, seed, mode="single")
    assert isinstance(env, TicketsEnv)
    page = env.observe()
    assert isinstance(page, TicketsObservation)
    share = 1.0 if rng.random() < WHOLE else rng.random()
    seen = tuple([document for document in page.context if rng.random() < share])
    part = replace(page, context=seen)
    call = POLICIES["expert"](env.brief("desk"), rng).act(part)
    guessed = bool(call.arguments["escalate"] and not call.arguments["citations"] and len(seen) < len(page.context))
    env.step(POLICIES["paste_top"](env.brief("desk"), rng).act(part) if guessed else call)
    answer = env.submitted
    assert answer is not None
    right, known = bool(env.outcome()["solved"]), len(seen) / len(page.context)
    return Read(env.case.kind, seed, known, answer.escalate, len(answer.citations), guessed, right)


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
