"""What a batch brings beside its rows: the labels of a new learner, and sample weights."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets

from tagalong.learning.labels import Labels, Targets

__all__ = ["RowTargets", "checked_weights", "labels_of", "means_growing"]


@dataclass(frozen=True)
class RowTargets:
    """The labels and weights of rows that a learner has accepted, to be learnt together.

    Parameters
    ----------
    targets : Targets
        The labels of each row, known or new.
    weights : array of shape (rows,), optional
        The weight of each row; 1 if left out.
    """

    targets: Targets
    weights: npt.NDArray[np.float64] | None


def labels_of(Y: Any, classes: Any, fitting: bool) -> Labels:
    """Return the labels of a learner that starts with these targets."""
    if means_growing(classes):
        return Labels(grows=True)
    if classes is not None:
        return Labels(classes)
    # Any label of Y may appear; the set is closed afterwards.
    targets = Labels(grows=True).encode(Y)
    if targets.kind == "single":
        check_classification_targets(np.asarray(Y).ravel())
    if targets.kind != "indicator" and not fitting:
        raise ValueError(
            "classes must be passed on the first call to partial_fit: all labels there will be, or "
            "'grow' to let them appear at any time"
        )
    names = targets.new
    if targets.kind != "indicator":
        with suppress(TypeError):  # labels of several types keep the order of appearance
            names = sorted(names)  # type: ignore[type-var]
    return Labels(names)


def means_growing(classes: Any) -> bool:
    """Whether labels may appear at any time; ValueError for another word than 'grow'."""
    if not isinstance(classes, str):
        return False
    if classes != "grow":
        raise ValueError(f"classes must be a collection of labels or 'grow', got {classes!r}")
    return True


def checked_weights(sample_weight: Any, X: Any, most: float) -> npt.NDArray[np.float64] | None:
    """Return the weights of a batch's rows, none of them negative or beyond the limit."""
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weights.shape != (X.shape[0],):
        raise ValueError(
            f"sample_weight must have shape ({X.shape[0]},), a number a row, got {weights.shape}"
        )
    bad = ~((weights >= 0) & (weights <= most))
    if bad.any():
        row = int(np.argmax(bad))
        shown = {"nan": "NaN", "inf": "infinity"}.get(str(weights[row]), f"{weights[row]:g}")
        raise ValueError(f"sample_weight: row {row} is {shown}; weights must be from 0 to {most:g}")
    return weights
