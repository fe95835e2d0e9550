"""ROUGE-L, for parity with systems that scored answers by it: reported, never paid by default."""

from functools import cache
from typing import Any


@cache
def _scorer() -> Any:
    from rouge_score import rouge_scorer  # takes seconds to import

    return rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)


def rouge_l(reference: str, text: str) -> float:
    """F measure, 0 to 1, of the longest common subsequence of words."""
    return float(_scorer().score(reference, text)["rougeL"].fmeasure)
