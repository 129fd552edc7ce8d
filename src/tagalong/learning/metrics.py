"""The metrics that ``score`` returns. They import ``sklearn.metrics`` late, as it loads slowly."""

from typing import Any

import numpy.typing as npt

from tagalong.learning.input_types import TargetsLike, Values
from tagalong.learning.labels import Labels

__all__ = ["accuracy", "average_precision"]


def accuracy(y: object, predicted: npt.NDArray[Any], sample_weight: npt.ArrayLike | None) -> float:
    """Return the fraction of rows whose label was predicted."""
    from sklearn.metrics import accuracy_score

    return float(accuracy_score(y, predicted, sample_weight=sample_weight))


def average_precision(
    labels: Labels,
    y: TargetsLike,
    scores: Values,
    sample_weight: npt.ArrayLike | None,
) -> float:
    """Return the label-ranking average precision; unknown relevance counts as irrelevant."""
    from sklearn.metrics import label_ranking_average_precision_score

    truth = labels.indicator(y, len(scores))
    return float(label_ranking_average_precision_score(truth, scores, sample_weight=sample_weight))
