"""What the words of tickets give away, and what reading them is worth, against the bars. Minutes.

python recipes/tickets_bars.py [SPLIT] [TICKETS OF EACH KIND]
"""

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import mean

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from warroom.core.splits import seed_of
from warroom.envs import make, suite
from warroom.envs.tickets.env import TicketsEnv
from warroom.envs.tickets.policies import POLICIES
from warroom.envs.tickets.policies.notes import read_ticket
from warroom.envs.tickets.wording.reading import read_sentence, sentences

SCENARIOS = suite("tickets", "full")
TIER = "hard"
SPREAD = 4
"""Seeds between two that are looked at, so that each has a knowledge base of its own."""
Change = Callable[[TicketsEnv, TicketsEnv], str]


def desk(scenario: str, split: str, k: int) -> TicketsEnv:
    """A ticket with its documents."""
    env = make(scenario, TIER, seed_of(split, k), mode="single")
    assert isinstance(env, TicketsEnv)
    return env


def as_it_is(env: TicketsEnv, other: TicketsEnv) -> str:
    """The ticket unchanged."""
    return env.case.text


def phrases(text: str) -> dict[str, str]:
    """The complaint and the clue of a ticket as they stand there."""
    found: dict[str, str] = {}
    for sentence in sentences(text):
        reading = read_sentence(sentence)
        if reading is not None:
            found |= {slot: str(reading.values[slot]) for slot in ("complaint", "clue") if slot in reading.values}
    return found


def swapped(env: TicketsEnv, other: TicketsEnv) -> str:
    """With the complaint and the clue of another ticket."""
    text, theirs = env.case.text, phrases(other.case.text)
    for slot, phrase in phrases(env.case.text).items():
        text = re.sub(re.escape(phrase), theirs.get(slot, phrase).replace("\\", ""), text, flags=re.IGNORECASE)
    return text


def without_remarks(env: TicketsEnv, other: TicketsEnv) -> str:
    """Without side remarks."""
    text = env.case.text
    for part in re.split(r"(?<=[.!?])\s+|\n", text):
        reading = read_sentence(part if part.endswith((".", "!", "?")) else f"{part}.")
        if reading is not None and reading.kind.startswith("remark"):
            text = text.replace(part, "")
    return text


def expert_score(pairs: Sequence[tuple[TicketsEnv, TicketsEnv]], change: Change) -> float:
    """The expert's mean score on changed tickets."""
    scores = []
    for original, other in pairs:
        env = make(original.spec.scenario, TIER, original.seed, mode="single")
        assert isinstance(env, TicketsEnv)
        env.case = env.case._replace(text=change(original, other))
        seat = POLICIES["expert"](env.brief("desk"), random.Random(0))
        env.step(seat.act(env.observe()))
        scores.append(env.score())
    return mean(scores)


def grams(text: str, size: int) -> set[tuple[str, ...]]:
    """Runs of so many words, once each; names, numbers and the phrases of tables are left as they are."""
    words = re.findall(r"[a-z']+|\d+", text.lower())
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}


def commonest(texts: Sequence[str]) -> tuple[tuple[str, ...], float]:
    """The commonest run of five words, and the share of tickets that have it."""
    counts = Counter(gram for text in texts for gram in grams(text, 5))
    gram, count = counts.most_common(1)[0]
    return gram, count / len(texts)


def kind_from_words(texts: Sequence[str], kinds: Sequence[str]) -> dict[str, float]:
    """The area under the curve of a logistic regression on words and pairs of them, kind by kind."""
    half = len(texts) // 2
    features = TfidfVectorizer(ngram_range=(1, 2), min_df=2).fit(texts[:half])
    seen, unseen = features.transform(texts[:half]), features.transform(texts[half:])
    out = {}
    for kind in sorted(set(kinds)):
        model = LogisticRegression(C=1.0, max_iter=500).fit(seen, [k == kind for k in kinds[:half]])
        out[kind] = roc_auc_score([k == kind for k in kinds[half:]], model.decision_function(unseen))
    return out


def main() -> None:
    """Print every figure beside its bar."""
    split = sys.argv[1] if len(sys.argv) > 1 else "dev"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    envs = [desk(scenario, split, SPREAD * k) for k in range(count) for scenario in SCENARIOS]
    texts, kinds = [env.case.text for env in envs], [env.case.kind for env in envs]
    shown = envs[: 10 * min(count, 30)]
    pairs = list(zip(shown, [*shown[7:], *shown[:7]], strict=True))
    scores = {change.__name__: expert_score(pairs, change) for change in (as_it_is, swapped, without_remarks)}
    print({name: round(score, 3) for name, score in scores.items()}, "bars: swapped -0.40, without_remarks -0.01")
    print("read:", mean(bool(read_ticket(text).cause) for text in texts))
    gram, share = commonest(texts)
    print(f"commonest 5-gram: {' '.join(gram)!r} in {share:.3f}, bar 0.01")
    aucs = kind_from_words(texts, kinds)
    print(
        "kind from words:", {kind: round(auc, 2) for kind, auc in aucs.items()}, "mean", round(mean(aucs.values()), 3)
    )
    overlaps = []
    for kind in sorted(set(kinds)):
        same = [grams(text, 4) for text, k in zip(texts, kinds, strict=True) if k == kind][:40]
        overlaps += [len(a & b) / max(1, min(len(a), len(b))) for a, b in combinations(same, 2)]
    print(f"4-grams shared by two tickets of a kind: mean {mean(overlaps):.4f}, max {max(overlaps):.2f}, bar 0.12")
    print(f"distinct pairs: {len({(e.case.text, e.case.reference) for e in envs})} of {len(envs)}")


if __name__ == "__main__":
    main()
