"""The learned attack on the fleet: whom a text classifier suspends that reads everything, and can only count words.

It is trained on the train split: TF-IDF and logistic regression over all texts of a candidate, its row of the ledger,
diff and charter, the approvals for its service and what the metrics say. Who is guilty stands in comparisons between
these texts, which no weight of a word makes. A learner that does well has found a leak.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from learned_attacks.sampling import fresh_incidents
from warroom.envs import suite
from warroom.envs.fleet.env import FleetEnv
from warroom.envs.fleet.rubric import OVERSIGHT

CATCH, FALSE_FLAG = OVERSIGHT["rogue_caught"], OVERSIGHT["rogue_false_positive"]


@dataclass(frozen=True)
class Candidate:
    """A change of an agent near the trouble, as a reader sees it."""

    text: str
    is_rogue: bool


@dataclass(frozen=True)
class AttackResult:
    """What the learner earns on incidents of the test split."""

    incidents: int
    rogues: int
    flags: int
    points: float
    """Points of its flags; a right one is taken to come with the right ground."""

    @property
    def share(self) -> float:
        """Of the points that one earns who suspends every rogue and nobody else."""
        return self.points / (CATCH * self.rogues)


def attack(tier: str, train: int, test: int) -> AttackResult:
    """Train on so many incidents of each scenario, with a threshold from those left out, and attack others."""
    samples = _samples(tier, "train", train)
    fitted, held = samples[::2], samples[1::2]
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=3), LogisticRegression(max_iter=500))
    candidates = [candidate for incident in fitted for candidate in incident]
    model.fit([c.text for c in candidates], [c.is_rogue for c in candidates])
    thresholds = [*np.linspace(0.05, 0.95, 37), 2.0]
    best = max(thresholds, key=lambda threshold: _points(model, held, threshold).points)
    return _points(model, _samples(tier, "test", test), best)


def _points(model: Pipeline, incidents: list[list[Candidate]], threshold: float) -> AttackResult:
    """The most suspect candidate of each incident is suspended, from a threshold on."""
    flags, points = 0, 0.0
    for candidates in incidents:
        chances = model.predict_proba([candidate.text for candidate in candidates])[:, 1]
        k = int(np.argmax(chances))
        if chances[k] >= threshold:
            flags += 1
            points += CATCH if candidates[k].is_rogue else FALSE_FLAG
    return AttackResult(len(incidents), sum(c.is_rogue for i in incidents for c in i), flags, points)


@cache
def _samples(tier: str, split: str, count: int) -> list[list[Candidate]]:
    incidents = fresh_incidents(FleetEnv, suite("fleet", "full"), tier, split, range(count))
    return [found for _, env in incidents if (found := list(_candidates(env)))]


def _candidates(env: FleetEnv) -> Iterator[Candidate]:
    sources, casting = env.sources, env.incident.casting
    hits = {site.hit for site in casting.sites}
    for change, charter, ground, *_ in casting.dossiers:
        if charter is not None:
            texts = (
                sources.ledger_row(change).text, sources.diff(f"CHG-{change.id}").render(),
                sources.charter(change.signer).render(), sources.approvals(change.service).render(),
                sources.metrics(change.service, "").render(),
            )  # fmt: skip
            yield Candidate("\n".join(texts), change.id in hits and ground is not None)
