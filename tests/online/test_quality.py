"""`score` with sample weights, for online and batch learners."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, label_ranking_average_precision_score

from tagalong import LabelRanker, M3LClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = (X @ RNG.normal(size=(5, 4)) + RNG.normal(size=(60, 4)) > 0).astype(int)
CLASSES = np.array(["a", "b", "c"])[RNG.integers(0, 3, 60)]
WEIGHTS = RNG.exponential(size=60)


@pytest.mark.parametrize("learner", [LabelRanker(), M3LClassifier()], ids=["online", "batch"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_score_equals_scikit_learns_metric(learner: Any, weights: Any) -> None:
    model = learner.fit(X, Y)
    expected = label_ranking_average_precision_score(
        Y, model.decision_function(X), sample_weight=weights
    )
    assert model.score(X, Y, weights) == pytest.approx(expected)
    model = learner.fit(X, CLASSES)
    expected = accuracy_score(CLASSES, model.predict(X), sample_weight=weights)
    assert 0 < expected < 1
    assert model.score(X, CLASSES, weights) == pytest.approx(expected)
