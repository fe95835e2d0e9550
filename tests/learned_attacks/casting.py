"""Boosted trees on all observables of a dossier at once."""

from collections.abc import Sequence

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from warroom.evals.audit.fleet.base_rates import CAUSES, Columns, Question, Score, auroc, standard_error
from warroom.evals.audit.fleet.observables import CandidateRow


def boosted_auroc(rows: Sequence[CandidateRow], question: Question, columns: Columns) -> Score:
    """Fitted on even rounds of the scenarios, scored on odd ones."""
    asked = [row for row in rows if question.asked_of(row)]
    table = np.array([list(columns(row).values()) for row in asked])
    answers = np.array([question.answer(row) for row in asked])
    fitted = np.array([row.incident // len(CAUSES) % 2 == 0 for row in asked])
    trees = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, random_state=0)
    scores = trees.fit(table[fitted], answers[fitted]).predict_proba(table[~fitted])[:, 1]
    return Score(("boosted trees",), auroc(answers[~fitted], scores), standard_error(answers[~fitted]))
